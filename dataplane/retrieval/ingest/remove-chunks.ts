import type { Sql, SqlPart, TransactionSql } from '#sql/connect';

/**
 * Maximum number of chunks that one statement removes: it must end before its timeout, however many chunks a document
 * has.
 */
export const mostChunksRemoved = 20_000;

/**
 * Removes the chunks of documents; if a version is given, only the chunks of that version. Repeating the call continues
 * an interrupted removal.
 */
export async function removeChunks(sql: Sql, docs: readonly string[], version?: number): Promise<void> {
  const ofVersion = version === undefined ? sql`` : sql`and version = ${version}`;
  const addresses = () => sql`
    select ctid from retrieval.chunks where doc = any(${sql.array([...docs], int8Type)}::bigint[]) ${ofVersion}`;
  while (await removeSomeChunks(sql, addresses()));
}

/**
 * Removes a bounded number of the chunks that a query finds.
 * @param addresses a query of the column `ctid`, which a limit can follow
 * @returns whether more may be left
 */
export async function removeSomeChunks(sql: Sql | TransactionSql, addresses: SqlPart): Promise<boolean> {
  // The rows are found by their addresses, because chunks are never updated. Rows that another replica removes at the
  // same time count, too: otherwise the loop would end early.
  const [row] = await sql<{ found: number }[]>`
    with found as materialized (
      ${addresses} limit ${mostChunksRemoved}
    ), removed as (
      delete from retrieval.chunks where ctid = any(array(select ctid from found))
    )
    select count(*)::int as found from found`;
  return row?.found === mostChunksRemoved;
}

const int8Type = 20;
