import type { ObjectStore } from '#objects/ports';
import type { RecordedChanges } from '#relations/changes/recorded-changes';
import { type Relations, relationLimits } from '#relations/ports';
import { collectionObject } from '#relations/tenant-object';
import type { Database } from '#sql/connect';
import { removeChunks } from '../ingest/remove-chunks.ts';

type RemovalPorts = {
  readonly database: Database;
  readonly objects: ObjectStore;
  readonly relations: Relations;
  readonly relationChanges: Pick<RecordedChanges, 'isLeft'>;
  /** Removes the entries of a version from the search index. */
  readonly dropPartition: (collectionId: string, version: number) => Promise<void>;
};

type DeletedCollection = { readonly tenant: string; readonly collectionId: string };

/**
 * Maximum number of documents that one transaction removes, and the bytes of their texts after which it removes no more
 * documents.
 */
const batch = { documents: 100, textBytes: 64 * 2 ** 20 } as const;

/**
 * Maximum number of jobs that one transaction removes: the transaction must end before its timeout, however many jobs a
 * document has.
 */
export const mostJobsRemoved = 5_000;

const int8Type = 20;
const uuidType = 2950;

/**
 * Removes documents, jobs, staged originals, index entries and relations of deleted collections. An interrupted round
 * is repeated: the rows of versions are removed last, and a document that was submitted meanwhile is found by the next
 * round. A collection that cannot be emptied does not prevent others from being emptied, and an index that does not answer
 * keeps no stored text.
 * @param signal ends the round before the next step
 * @returns how many collections were emptied; 0 if the signal ended the round
 * @throws the first failure, after every collection was tried
 */
export async function removeContents(ports: RemovalPorts, signal: AbortSignal): Promise<number> {
  const deleted = await ports.database.sql<DeletedCollection[]>`
    select tenant, collection_id as "collectionId" from retrieval.collections c
    where status = 'deleted' and (
      exists (select from retrieval.index_versions v where v.collection_id = c.collection_id)
      or exists (select from retrieval.documents d where d.collection_id = c.collection_id))
    order by updated_at`;
  const failures: unknown[] = [];
  let left: readonly DeletedCollection[] = deleted;
  for (const step of [removeTexts, removeRest]) {
    const done: DeletedCollection[] = [];
    for (const collection of left) {
      if (signal.aborted) return 0;
      await step(ports, collection, signal).then(
        () => done.push(collection),
        (error) => failures.push(error),
      );
    }
    left = done;
  }
  if (failures.length > 0) throw failures[0];
  return deleted.length;
}

async function removeTexts(
  ports: RemovalPorts,
  { collectionId }: DeletedCollection,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && (await removeDocuments(ports, collectionId)) > 0);
}

/** Removes the index entries, and then the relations and rows of versions. */
async function removeRest(ports: RemovalPorts, { tenant, collectionId }: DeletedCollection): Promise<void> {
  const { sql } = ports.database;
  const versions = await sql<{ number: number }[]>`
    select number from retrieval.index_versions where collection_id = ${collectionId}`;
  for (const { number } of versions) await ports.dropPartition(collectionId, number);
  const object = collectionObject(tenant, collectionId);
  // The tuples show whether a change was made that was left without its audit entry.
  if (await ports.relationChanges.isLeft(object)) return;
  const tuples = await ports.relations.tuplesOf(object);
  for (let at = 0; at < tuples.length; at += relationLimits.tuples) {
    await ports.relations.revoke(tuples.slice(at, at + relationLimits.tuples));
  }
  await sql`delete from retrieval.index_versions where collection_id = ${collectionId}`;
  await sql`update retrieval.collections set doc_count = 0, chunk_count = 0 where collection_id = ${collectionId}`;
}

/**
 * Removes a batch of documents with all dependent rows. Jobs and chunks are removed before their documents, because a
 * document may have more of them than one transaction removes.
 */
async function removeDocuments({ database, objects }: RemovalPorts, collectionId: string): Promise<number> {
  const { sql } = database;
  const rows = await sql<{ doc: string }[]>`
    select doc from (
      select doc, sum(bytes) over (order by doc) - bytes as before from (
        select doc, octet_length(text) as bytes from retrieval.documents
        where collection_id = ${collectionId} order by doc limit ${batch.documents}) d) d
    where before < ${batch.textBytes}`;
  if (rows.length === 0) return 0;
  const docs = rows.map(({ doc }) => doc);
  while (await removeSomeJobs({ database, objects }, docs));
  await removeChunks(sql, docs);
  await sql`delete from retrieval.documents where doc in ${sql(docs)}`;
  return rows.length;
}

/**
 * Removes a bounded number of the jobs of documents. Staged originals are removed first, because the rows name them.
 * @returns whether more may be left
 */
async function removeSomeJobs(
  { database: { sql }, objects }: Pick<RemovalPorts, 'database' | 'objects'>,
  docs: readonly string[],
): Promise<boolean> {
  const keys = sql.array([...docs], int8Type);
  const jobs = await sql<{ id: string; key: string | null }[]>`
    select job_id as id, case when not settled then payload_key end as key from retrieval.jobs
    where doc = any(${keys}::bigint[]) limit ${mostJobsRemoved}`;
  if (jobs.length === 0) return false;
  for (const { key } of jobs) if (key !== null) await objects.delete(key);
  const ids = sql.array(
    jobs.map(({ id }) => id),
    uuidType,
  );
  await sql.begin(async (transaction) => {
    // Documents are locked before their jobs, as in every transaction.
    await transaction`
      select from retrieval.documents where doc = any(${keys}::bigint[]) order by doc for no key update`;
    await transaction`delete from retrieval.jobs where job_id = any(${ids}::uuid[])`;
  });
  return jobs.length === mostJobsRemoved;
}
