import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { listenOnLoopback } from '#kit/testing/loopback';
import { SqlUnavailableError } from './connect.ts';
import { missingPostgres, onPostgres, openTestDatabase } from './testing/test-database.ts';

/** First bytes of the messages with a statement: Parse and Query. */
const statementTypes = new Set(['P', 'Q'].map((type) => type.charCodeAt(0)));

/** A proxy that ends each connection when its client sends the first statement. */
async function startCuttingProxy(databaseUrl: string): Promise<AsyncDisposable & { readonly url: string }> {
  const target = new URL(databaseUrl);
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const end = (): void => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    client.on('error', end).on('close', end);
    upstream.on('error', end).on('data', (bytes) => client.write(bytes));
    client.on('data', (bytes) => {
      if (statementTypes.has(bytes[0] ?? 0)) end();
      else upstream.write(bytes);
    });
  });
  const { host } = new URL(await listenOnLoopback(server));
  return {
    url: Object.assign(new URL(databaseUrl), { host }).href,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('the first statement of a connection'), () => {
  test('a connection that is lost at its first statement fails that statement, and nothing else in the process', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    try {
      await using opened = await openTestDatabase();
      await using proxy = await startCuttingProxy(opened.url);
      await using database = opened.connect({ url: proxy.url });
      for (let at = 0; at < 3; at += 1) {
        await expect(database.sql`select 1`).rejects.toBeInstanceOf(SqlUnavailableError);
      }
      await pause(50);
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });

  test('lists of every type are sent and read by the first statement of a connection', async () => {
    await using opened = await openTestDatabase();
    const texts = ['', 'a b', 'a,b', '{}', '"', '\\', 'NULL', 'é\n'];
    const cases = [
      ['text', texts],
      ['varchar', texts],
      ['int4', [1, -2]],
      ['int8', ['9007199254740993']],
      ['float8', [0.5, -1]],
      ['bool', [true, false]],
      ['uuid', ['01890a5d-ac96-774b-bcce-b302099a8077']],
      ['jsonb', [{ a: ['"', null] }, 7]],
      ['timestamptz', [new Date(0)]],
      ['bytea', [Buffer.from([0, 34, 92, 255])]],
    ] as const;
    for (const [type, values] of cases) {
      await using database = opened.connect();
      const { sql } = database;
      const rows = values.map((value) =>
        type === 'jsonb' ? sql`${sql.json(value as never)}` : sql`${value as never}`,
      );
      const list = rows.reduce((all, one, at) => (at === 0 ? one : sql`${all}, ${one}`));
      const found = await sql`select array[${list}]::${sql.unsafe(`${type}[]`)} as list`;
      expect([type, found[0]?.['list']]).toEqual([type, values]);
    }
    await using database = opened.connect();
    const { sql } = database;
    expect(await sql`select ${sql.array([...texts])}::text[] as sent`).toEqual([{ sent: texts }]);
    expect(await sql`select '{{1,2},{3,4}}'::int4[] as nested, '{}'::uuid[] as none`).toEqual([
      {
        nested: [
          [1, 2],
          [3, 4],
        ],
        none: [],
      },
    ]);
  });
});
