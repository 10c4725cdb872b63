import { describe, expect, test } from 'vitest';
import { SqlConflictError } from './sql-error.ts';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from './testing/test-database.ts';
import type { TransactionSql } from './transaction.ts';

const fault = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A function that resolves for both of two callers when the second one has called it. */
function meeting(): () => Promise<void> {
  const both = Promise.withResolvers<void>();
  let waiting = 0;
  return async () => {
    waiting += 1;
    if (waiting >= 2) both.resolve();
    await both.promise;
  };
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('transactions that conflict'), () => {
  async function withCounts(): Promise<TestDatabase> {
    const opened = await openTestDatabase();
    await opened.database.sql`create table counts (id text primary key, n int not null)`;
    await opened.database.sql`insert into counts values ('a', 0), ('b', 0)`;
    await opened.database.sql.unsafe(
      `create function conflict(state text) returns void language plpgsql as
       $$ begin raise exception 'another transaction' using errcode = state; end $$`,
    );
    return opened;
  }
  const counts = async ({ database }: TestDatabase): Promise<readonly number[]> =>
    (await database.sql<{ n: number }[]>`select n from counts order by id`).map(({ n }) => n);
  const add = (sql: TransactionSql, id: string) => sql`update counts set n = n + 1 where id = ${id}`;

  test('if two transactions deadlock, the one that is rolled back runs again, and both take effect once', async () => {
    await using opened = await withCounts();
    const { sql } = opened.database;
    const met = meeting();
    let runs = 0;
    const addBoth = (first: string, second: string) =>
      sql.begin(async (own) => {
        runs += 1;
        await add(own, first);
        await met();
        await add(own, second);
        return `${first}${second}`;
      });
    expect(await Promise.all([addBoth('a', 'b'), addBoth('b', 'a')])).toEqual(['ab', 'ba']);
    expect(await counts(opened)).toEqual([2, 2]);
    expect(runs).toBe(3);
  });

  test('if two serializable transactions conflict, one runs again and sees the rows of the other', async () => {
    await using opened = await withCounts();
    const met = meeting();
    const addCount = (id: string) =>
      opened.database.sql.begin('serializable', async (own) => {
        const [row] = await own<{ n: number }[]>`select count(*)::int as n from counts`;
        await met();
        await own`insert into counts values (${id}, ${row?.n ?? 0})`;
      });
    await Promise.all([addCount('x'), addCount('y')]);
    expect((await counts(opened)).slice(2).toSorted()).toEqual([2, 3]);
  });

  test.each(['40P01', '40001'])(
    'a transaction that is rolled back with %s runs at most four times, and its connection stays in use',
    async (state) => {
      await using opened = await withCounts();
      await using database = opened.connect({ max: 1 });
      const pid = async () => (await database.sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid;
      const before = await pid();
      let runs = 0;
      const failing = (conflicts: number) => {
        runs = 0;
        return database.sql.begin(async (own) => {
          runs += 1;
          await add(own, 'a');
          if (runs <= conflicts) await own`select conflict(${state})`;
        });
      };
      await failing(3);
      expect([runs, await counts(opened)]).toEqual([4, [1, 0]]);
      const error = await fault(failing(4));
      expect(error).toBeInstanceOf(SqlConflictError);
      expect(error).toMatchObject({ code: 'sql_unavailable', reason: state });
      expect([runs, await counts(opened)]).toEqual([4, [1, 0]]);
      expect(await pid()).toBe(before);
    },
  );

  test('a transaction whose callback translates the error of the conflict runs again', async () => {
    await using opened = await withCounts();
    let runs = 0;
    await opened.database.sql.begin(async (own) => {
      runs += 1;
      await add(own, 'a');
      const conflict = runs === 1 ? own`select conflict('40P01')` : Promise.resolve();
      await conflict.catch(() => {
        throw new Error('translated');
      });
    });
    expect([runs, await counts(opened)]).toEqual([2, [1, 0]]);
  });

  test('a transaction that fails for another reason runs once', async () => {
    await using opened = await withCounts();
    let runs = 0;
    const error = await fault(
      opened.database.sql.begin(async (own) => {
        runs += 1;
        await own`insert into counts values ('a', 1)`;
      }),
    );
    expect(error).toMatchObject({ code: 'sql_refused', sqlState: '23505' });
    expect(runs).toBe(1);
  });

  test('a transaction that must not be repeated fails at its first conflict', async () => {
    await using opened = await withCounts();
    let runs = 0;
    const error = await fault(
      opened.database.sql.beginOnce(async (own) => {
        runs += 1;
        await add(own, 'a');
        await own`select conflict('40P01')`;
      }),
    );
    expect(error).toBeInstanceOf(SqlConflictError);
    expect([runs, await counts(opened)]).toEqual([1, [0, 0]]);
  });

  test('a statement outside a transaction fails at its first conflict', async () => {
    await using opened = await withCounts();
    expect(await fault(opened.database.sql`select conflict('40001')`)).toBeInstanceOf(SqlConflictError);
  });
});
