import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import postgres from 'postgres';
import { describe, expect, test } from 'vitest';
import type { DriverQuery } from './client.ts';
import { passwordFrom } from './connect.ts';
import { missingPostgres, onPostgres, testServer } from './testing/test-database.ts';

/** The internals of postgres.js that client.ts and statements.ts use beyond its types (docs/decisions/0011). */
const queryOf = (sql: postgres.Sql): DriverQuery => sql.unsafe('select 1 as one') as unknown as DriverQuery;

test('the driver has the version whose internals these tests pin', () => {
  const path = createRequire(import.meta.url)
    .resolve('postgres')
    .replace(/(.*\/node_modules\/postgres)\/.*/, '$1/package.json');
  expect(JSON.parse(readFileSync(path, 'utf8')).version).toBe('3.4.9');
});

describe('a statement of the driver', () => {
  const sql = postgres('postgres://me@127.0.0.1:1/a', { max: 1 });

  test('a statement has its own handler, resolve and reject, which can be replaced before it is sent', () => {
    const query = queryOf(sql);
    expect(query).toBeInstanceOf(Promise);
    for (const name of ['handler', 'resolve', 'reject'] as const) {
      expect([name, typeof query[name], Object.getOwnPropertyDescriptor(query, name)?.writable]).toEqual([
        name,
        'function',
        true,
      ]);
    }
  });

  test('the handler of a statement is called once with the statement when it is awaited, and not before', async () => {
    const query = queryOf(sql);
    const seen: DriverQuery[] = [];
    query.handler = Object.assign(
      (self: DriverQuery) => {
        seen.push(self);
        self.resolve('answered');
      },
      { debug: false },
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual([]);
    expect(await query).toBe('answered');
    expect(await query).toBe('answered');
    expect(seen).toHaveLength(1);
    expect(seen[0] === query).toBe(true);
  });

  test('a replaced reject receives the error of a statement', async () => {
    const query = queryOf(sql);
    const { reject } = query;
    query.reject = () => reject(new Error('translated'));
    query.handler = Object.assign((self: DriverQuery) => self.reject(new Error('original')), { debug: false });
    await expect(query).rejects.toThrow('translated');
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('the driver over a connection'), () => {
  test('the handler of one client sends a statement that another client created, over its own connection', async () => {
    const server = await testServer();
    const password = passwordFrom(server.passwordFile);
    const open = (name: string) =>
      postgres(server.process.url, { max: 1, password, connection: { application_name: name } });
    const [maker, sender] = [open('maker'), open('sender')];
    const { handler } = queryOf(sender);
    const query = maker`select current_setting('application_name') as name` as unknown as DriverQuery;
    query.handler = Object.assign((self: DriverQuery) => handler(self), { debug: false });
    expect([...((await query) as object[])]).toEqual([{ name: 'sender' }]);
    await Promise.all([maker.end(), sender.end()]);
  });

  test('onclose is called when the server ends the session', async () => {
    const server = await testServer();
    const closed = Promise.withResolvers<void>();
    const password = passwordFrom(server.passwordFile);
    const sql = postgres(server.process.url, { max: 1, password, onclose: () => closed.resolve() });
    await sql`select pg_terminate_backend(pg_backend_pid())`.catch(() => undefined);
    await closed.promise;
    await sql.end({ timeout: 0 });
  });
});
