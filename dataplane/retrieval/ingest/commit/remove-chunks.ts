import type { Sql } from '#sql/connect';

/** Most chunks that one statement removes: it must end before its timeout, however many chunks a document has. */
export const mostChunksRemoved = 20_000;

/** Removes the chunks of documents, with a version only those of that version. An interrupted removal is continued by a repetition. */
export async function removeChunks(sql: Sql, docs: readonly string[], version?: number): Promise<void> {
  const ofVersion = version === undefined ? sql`` : sql`and version = ${version}`;
  for (let found = mostChunksRemoved; found === mostChunksRemoved; ) {
    // By the addresses of rows, because chunks are never updated. Rows that another replica removes at the same time count too:
    // otherwise its rows would end the loop early.
    const [row] = await sql<{ found: number }[]>`
      with found as materialized (
        select ctid from retrieval.chunks
        where doc = any(${sql.array([...docs], int8Type)}::bigint[]) ${ofVersion} limit ${mostChunksRemoved}
      ), removed as (
        delete from retrieval.chunks where ctid = any(array(select ctid from found))
      )
      select count(*)::int as found from found`;
    found = row?.found ?? 0;
  }
}

const int8Type = 20;
