import type { ObjectStore } from '#objects/ports';
import { type Relations, relationLimits } from '#relations/ports';
import { collectionObject } from '#relations/tenant-object';
import type { Database } from '#sql/connect';
import { removeChunks } from '../ingest/remove-chunks.ts';

type RemovalPorts = {
  readonly database: Database;
  readonly objects: ObjectStore;
  readonly relations: Relations;
  /** Removes the entries of a version from the search index. */
  readonly dropPartition: (collectionId: string, version: number) => Promise<void>;
};

type DeletedCollection = { readonly tenant: string; readonly collectionId: string };

/** Documents that one transaction removes at most, and bytes of their texts after which it removes no further one. */
const batch = { documents: 100, textBytes: 64 * 2 ** 20 } as const;

/**
 * Removes documents, jobs, staged originals, index entries and relations of deleted collections. An interrupted round
 * is repeated: the rows of versions are removed last, and a document that was submitted meanwhile is found by the next
 * round.
 * @returns how many collections were emptied
 */
export async function removeContents(ports: RemovalPorts): Promise<number> {
  const deleted = await ports.database.sql<DeletedCollection[]>`
    select tenant, collection_id as "collectionId" from retrieval.collections c
    where status = 'deleted' and (
      exists (select from retrieval.index_versions v where v.collection_id = c.collection_id)
      or exists (select from retrieval.documents d where d.collection_id = c.collection_id))
    order by updated_at`;
  for (const collection of deleted) await empty(ports, collection);
  return deleted.length;
}

async function empty(ports: RemovalPorts, { tenant, collectionId }: DeletedCollection): Promise<void> {
  const { sql } = ports.database;
  while ((await removeDocuments(ports, collectionId)) > 0);
  const object = collectionObject(tenant, collectionId);
  const tuples = await ports.relations.tuplesOf(object);
  for (let at = 0; at < tuples.length; at += relationLimits.tuples) {
    await ports.relations.revoke(tuples.slice(at, at + relationLimits.tuples));
  }
  const versions = await sql<{ number: number }[]>`
    select number from retrieval.index_versions where collection_id = ${collectionId}`;
  for (const { number } of versions) await ports.dropPartition(collectionId, number);
  await sql`delete from retrieval.index_versions where collection_id = ${collectionId}`;
  await sql`update retrieval.collections set doc_count = 0, chunk_count = 0 where collection_id = ${collectionId}`;
}

/**
 * Removes a batch of documents with all dependent rows. Staged originals are removed first, because the rows name them, and
 * chunks before their documents, because a document may have more of them than one transaction removes.
 */
async function removeDocuments({ database: { sql }, objects }: RemovalPorts, collectionId: string): Promise<number> {
  const rows = await sql<{ doc: string }[]>`
    select doc from (
      select doc, sum(bytes) over (order by doc) - bytes as before from (
        select doc, octet_length(text) as bytes from retrieval.documents
        where collection_id = ${collectionId} order by doc limit ${batch.documents}) d) d
    where before < ${batch.textBytes}`;
  if (rows.length === 0) return 0;
  const keys = rows.map(({ doc }) => doc);
  const docs = sql(keys);
  const staged = await sql<{ key: string }[]>`
    select payload_key as key from retrieval.jobs where doc in ${docs} and staged and payload_key is not null`;
  for (const { key } of staged) await objects.delete(key);
  await removeChunks(sql, keys);
  await sql`delete from retrieval.documents where doc in ${docs}`;
  return rows.length;
}
