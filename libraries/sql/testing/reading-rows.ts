import type { Database, Sql, TransactionSql } from '../connect.ts';

type Reading<T> = {
  readonly answer: T;
  /** Rows that were fetched from the table, also those that no condition kept. */
  readonly read: number;
};

/**
 * Runs statements in one transaction and counts the rows of a table that they read.
 * @param table the schema and the name of the table
 * @param settings runs before the count begins
 */
export function readingRows<T>(
  { sql: database }: Database,
  table: `${string}.${string}`,
  run: (sql: Sql & TransactionSql) => Promise<T>,
  settings: (sql: TransactionSql) => Promise<unknown> = async () => undefined,
): Promise<Reading<T>> {
  return database.begin(async (sql) => {
    const total = async () => {
      const [row] = await sql<{ read: number }[]>`
        select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables
        where relid = ${table}::regclass`;
      return row?.read ?? 0;
    };
    await settings(sql);
    const before = await total();
    const answer = await run(sql as Sql & TransactionSql);
    return { answer, read: (await total()) - before };
  });
}
