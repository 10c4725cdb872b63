import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { SqlUnavailableError } from './connect.ts';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from './testing/test-database.ts';
import type { TransactionSql } from './transaction.ts';

const fault = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe.skipIf(missingPostgres !== undefined)(onPostgres('transactions'), () => {
  async function withTable(): Promise<TestDatabase> {
    const opened = await openTestDatabase();
    await opened.database.sql`create table t (n int primary key)`;
    return opened;
  }
  const rows = async ({ database }: TestDatabase): Promise<readonly number[]> =>
    (await database.sql<{ n: number }[]>`select n from t order by n`).map(({ n }) => n);

  test('a failed statement rolls back the transaction even if its error was caught', async () => {
    await using opened = await withTable();
    const error = await fault(
      opened.database.sql.begin(async (sql) => {
        await sql`insert into t values (1)`;
        await sql`insert into t values (1)`.catch(() => undefined);
        return 'fine';
      }),
    );
    expect(error).toMatchObject({ sqlState: '23505' });
    expect(await rows(opened)).toEqual([]);
  });

  test('a savepoint rolls back its own part of a transaction, even when it is nested', async () => {
    await using opened = await withTable();
    await opened.database.sql.begin(async (sql) => {
      await sql`insert into t values (1)`;
      await sql.savepoint(async (inner) => {
        await inner`insert into t values (2)`;
        await fault(
          inner.savepoint(async (innermost) => {
            await innermost`insert into t values (3)`;
            await innermost`insert into t values (1)`;
          }),
        );
        await inner`insert into t values (4)`;
      });
      await fault(
        sql.savepoint(async (inner) => {
          await inner`insert into t values (5)`;
          throw new Error('changed my mind');
        }),
      );
    });
    expect(await rows(opened)).toEqual([1, 2, 4]);
  });

  test('a statement after the end of its transaction is refused and not sent', async () => {
    await using opened = await withTable();
    const kept: TransactionSql[] = [];
    await opened.database.sql.begin(async (sql) => void kept.push(sql));
    for (const sql of kept) {
      expect(await fault(sql`insert into t values (1)`)).toMatchObject({ reason: 'TRANSACTION_OVER' });
    }
    expect(await rows(opened)).toEqual([]);
  });

  test('after a session is lost no statement of its transaction runs on another connection', async () => {
    await using opened = await withTable();
    await using database = opened.connect({ max: 1 });
    const error = await fault(
      database.sql.begin(async (sql) => {
        const [own] = await sql`select pg_backend_pid() as pid`;
        await opened.database.sql`select pg_terminate_backend(${own?.['pid']})`;
        await until(
          'the client detected the end of its session',
          async () => (await fault(sql`select 1`)) !== undefined,
        );
        for (let n = 1; n <= 5; n += 1) await fault(sql`insert into t values (${n})`);
      }),
    );
    expect(error).toBeInstanceOf(SqlUnavailableError);
    expect([...(await database.sql`select 1 as one`)]).toEqual([{ one: 1 }]);
    expect(await rows(opened)).toEqual([]);
  });

  test('a statement that waits too long for a lock times out', async () => {
    await using opened = await withTable();
    await opened.database.sql`insert into t values (1)`;
    await using hasty = opened.connect({ statementTimeoutMs: 300 });
    await opened.database.sql.begin(async (sql) => {
      await sql`update t set n = 2`;
      expect(await fault(hasty.sql`update t set n = 3`)).toMatchObject({ code: 'sql_unavailable', reason: '57014' });
    });
    expect(await rows(opened)).toEqual([2]);
  });

  test('a pool opens at most its maximum of connections and serves all waiting statements', async () => {
    await using opened = await withTable();
    await using database = opened.connect({ max: 3, applicationName: 'narrow' });
    let most = 0;
    const look = async (): Promise<void> => {
      const [row] = await opened.database.sql`
        select count(*)::int as n from pg_stat_activity where application_name = 'narrow'`;
      most = Math.max(most, Number(row?.['n']));
    };
    let isOver = false;
    const watching = (async () => {
      while (!isOver) await look();
    })();
    const work = Array.from({ length: 40 }, (_, at) =>
      at % 2 === 0
        ? database.sql`insert into t values (${at})`
        : database.sql.begin((sql) => sql`insert into t values (${at})`.then(() => sql`select pg_sleep(0.01)`)),
    );
    await Promise.all<unknown>(work);
    isOver = true;
    await watching;
    await look();
    expect(await rows(opened)).toHaveLength(40);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(3);
  });

  test('a pool refuses statements after its end', async () => {
    await using opened = await withTable();
    const database = opened.connect();
    await database.sql`select 1`;
    await database[Symbol.asyncDispose]();
    expect(await fault(database.sql`select 1`)).toMatchObject({ reason: 'ENDED' });
    expect(await fault(database.sql.begin(async () => 1))).toMatchObject({ reason: 'ENDED' });
  });
});
