import type { SearchIndex } from '#search/ports';
import type { Database } from '#sql/connect';
import { partitionName } from '../../dataplane/retrieval/index/partition-name.ts';
import { testProfile } from '../../dataplane/retrieval/ingest/testing/scripted-models.ts';

/**
 * The ids of the chunks of the active version that the index has, each as often as it has it. The index reflects every
 * committed change.
 * @throws SearchUnavailableError, SqlUnavailableError
 */
export async function readIndexed(
  { sql }: Database,
  index: SearchIndex,
  collectionId: string,
): Promise<readonly string[]> {
  const [row] = await sql<{ version: number; changeNo: string; chunks: number }[]>`
    select c.active_version as version, c.change_no as "changeNo", (
      select count(*) from retrieval.chunks k join retrieval.documents d using (doc)
      where d.collection_id = c.collection_id)::int as chunks
    from retrieval.collections c where collection_id = ${collectionId}`;
  if (row === undefined) throw new Error('the collection is missing');
  const vector = new Float32Array(testProfile.dimension);
  vector[0] = 1;
  const [found = []] = await index.candidates({
    partition: partitionName({ collectionId, version: row.version }),
    reflects: BigInt(row.changeNo),
    labels: 'every',
    legs: [{ kind: 'vector', vector }],
    // The window covers the chunks of all versions, so that no chunk of the index is beyond it.
    window: Math.min(index.mostCandidates, row.chunks + 1),
  });
  return found.map(({ id }) => id);
}

/**
 * The differences between the index and the live chunks of the active version, one sentence for each kind of
 * difference.
 */
export async function auditIndex(
  database: Database,
  index: SearchIndex,
  collectionId: string,
): Promise<readonly string[]> {
  const indexed = await readIndexed(database, index, collectionId);
  const rows = await database.sql<{ id: string }[]>`
    select k.chunk_id as id from retrieval.collections c
    join retrieval.documents d using (collection_id)
    join retrieval.chunks k on k.doc = d.doc and k.seq = d.live_seq and k.version = c.active_version
    where c.collection_id = ${collectionId} and not d.deleted`;
  const live = new Set(rows.map(({ id }) => id));
  const found = new Set(indexed);
  const missing = [...live].filter((id) => !found.has(id)).length;
  const leftover = [...found].filter((id) => !live.has(id)).length;
  return [
    ...(missing === 0 ? [] : [`the index lacks ${missing} of ${live.size} chunks`]),
    ...(leftover === 0 ? [] : [`the index has ${leftover} chunks that are not live`]),
    ...(found.size === indexed.length ? [] : [`the index repeats ${indexed.length - found.size} chunks`]),
  ];
}
