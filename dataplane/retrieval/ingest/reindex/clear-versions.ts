import type { Database } from '#sql/connect';
import { removeChunks } from '../remove-chunks.ts';

/** Documents whose chunks are removed together. */
const batch = 200;

type Uncleared = { readonly collectionId: string; readonly version: number };

export type ClearPorts = {
  readonly database: Database;
  /** Removes the entries of a version from the search index. */
  readonly dropPartition: (collectionId: string, version: number) => Promise<void>;
  /** Longer than any query: a query that began before the switch keeps reading the version with which it began. */
  readonly graceMs: number;
};

/** Removes failed versions, and retired ones after the queries that began before the switch have ended. */
export async function clearVersions({ database, dropPartition, graceMs }: ClearPorts): Promise<number> {
  const { sql } = database;
  const versions = await sql<Uncleared[]>`
    select collection_id as "collectionId", number as version from retrieval.index_versions
    where state in ('retired', 'failed') and not cleared
      and ended_at <= clock_timestamp() - ${graceMs} * interval '1 millisecond'
    order by ended_at`;
  for (const { collectionId, version } of versions) {
    await clearChunksOf(database, { collectionId, version });
    await dropPartition(collectionId, version);
    await sql`
      update retrieval.index_versions set cleared = true where collection_id = ${collectionId} and number = ${version}`;
  }
  return versions.length;
}

async function clearChunksOf({ sql }: Database, { collectionId, version }: Uncleared): Promise<void> {
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const rows: readonly { readonly doc: string }[] = await sql<{ doc: string }[]>`
      select doc from retrieval.documents where collection_id = ${collectionId} and doc > ${after}
      order by doc limit ${batch}`;
    after = rows.at(-1)?.doc;
    if (after === undefined) return;
    const docs = rows.map(({ doc }) => doc);
    await removeChunks(sql, docs, version);
    await sql`delete from retrieval.indexed_documents where doc in ${sql(docs)} and version = ${version}`;
  }
}
