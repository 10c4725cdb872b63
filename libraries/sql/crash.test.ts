import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { unusedPort } from '#kit/testing/loopback';
import { until } from '#kit/testing/until';
import { connectSql, passwordFrom, SqlUnavailableError } from './connect.ts';
import { missingPostgres, onPostgres, startTestServer } from './testing/test-database.ts';

const workers = 12;
const crashes = 3;

describe.skipIf(missingPostgres !== undefined)(onPostgres('a server that is killed under load'), () => {
  test('a server killed under load keeps every acknowledged transaction and no partial one, and the pool reconnects', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'portcullis-crash-'));
    let server = await startTestServer({ folder, listen: `127.0.0.1:${await unusedPort()}` });
    const listen = new URL(server.process.url).host;
    const password = passwordFrom(server.passwordFile);
    const database = connectSql({ url: server.process.url, password, applicationName: 'load', max: 6 });
    const { sql } = database;
    await sql`create table pairs (n int not null, half int not null, primary key (n, half))`;

    const answered = new Set<number>();
    const others: unknown[] = [];
    let next = 0;
    let failures = 0;
    let isOver = false;
    async function work(): Promise<void> {
      while (!isOver) {
        next += 1;
        const n = next;
        try {
          await sql.begin(async (tx) => {
            await tx`insert into pairs values (${n}, 1)`;
            await tx`insert into pairs values (${n}, 2)`;
          });
          answered.add(n);
        } catch (error) {
          failures += 1;
          if (!(error instanceof SqlUnavailableError)) others.push(error);
          await pause(20);
        }
      }
    }
    const working = Array.from({ length: workers }, work);
    for (let crash = 0; crash < crashes; crash += 1) {
      const before = answered.size;
      await until('transactions succeed', () => answered.size > before + 50);
      process.kill(
        Number(readFileSync(join(folder, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]),
        'SIGKILL',
      );
      await server.process.exit();
      server = await startTestServer({ folder, listen });
    }
    const last = answered.size;
    await until('transactions succeed again', () => answered.size > last + 50);
    isOver = true;
    await Promise.all(working);

    const kept = await sql<{ n: number; halves: number }[]>`select n, count(*)::int as halves from pairs group by n`;
    const whole = new Set(kept.filter(({ halves }) => halves === 2).map(({ n }) => n));
    expect(others).toEqual([]);
    expect(kept.filter(({ halves }) => halves !== 2)).toEqual([]);
    expect([...answered].filter((n) => !whole.has(n))).toEqual([]);
    expect(failures).toBeGreaterThan(0);
    await database[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });
});
