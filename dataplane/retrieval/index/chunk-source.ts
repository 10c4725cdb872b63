import type { IndexEntry, PartitionSource } from '#search/ports';
import { readPartitions } from '#search/read-partitions';
import type { Database } from '#sql/connect';
import { chunkAttributes } from './chunk-attributes.ts';
import { readPartitionName } from './partition-name.ts';

/** Rows of one page, some megabytes of vectors; one statement reads a page. */
const pageSize = 1_000;
const groupsAtOnce = 50;

type Cursor = { readonly doc: string; readonly no: number };

type ChunkRow = {
  readonly doc: string;
  readonly no: number;
  readonly chunk_id: string;
  readonly doc_id: string;
  readonly labels: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly terms: string;
  /** Base64, because the driver would read bytes as hexadecimal text, which is half as long again. */
  readonly vector: string;
};

/**
 * The live chunks of an active or retired version, from which the embedded index is built and which it follows. A version
 * that is being built is a partition from the commit on that proves it complete.
 */
export function chunkSource({ sql }: Database): PartitionSource {
  const columns = sql`
    c.doc, c.no, c.chunk_id, d.doc_id, d.labels, d.metadata, c.terms, encode(c.vector, 'base64') as vector
    from retrieval.chunks c join retrieval.documents d on d.doc = c.doc and d.live_seq = c.seq and not d.deleted`;
  return readPartitions<Cursor>(
    {
      async numbers(partition) {
        const { collectionId, version } = readPartitionName(partition);
        const [row] = await sql<{ change_no: string; complete_since: string }[]>`
          select c.change_no, coalesce(v.complete_since, 0) as complete_since from retrieval.collections c
          join retrieval.index_versions v on v.collection_id = c.collection_id and v.number = ${version}
          where c.collection_id = ${collectionId} and c.status <> 'deleted'
            and (v.state = 'active' or v.state = 'retired' and not v.cleared
              or v.state = 'building' and v.complete_since is not null)`;
        // Chunks that a reindex wrote before that change have no change numbers.
        return row && { newest: BigInt(row.change_no), forgottenThrough: BigInt(row.complete_since) };
      },
      async page(partition, after, size) {
        const { collectionId, version } = readPartitionName(partition);
        const rows = await sql<ChunkRow[]>`
          select ${columns}
          where d.collection_id = ${collectionId} and c.version = ${version} and d.doc >= ${after?.doc ?? '0'}::bigint
            and (c.doc, c.no) > (${after?.doc ?? '0'}::bigint, ${after?.no ?? -1}::integer)
          order by c.doc, c.no limit ${size}`;
        const last = rows.at(-1);
        const next = last === undefined || rows.length < size ? undefined : { doc: last.doc, no: last.no };
        return { entries: rows.map(entryOf), next };
      },
      async changedGroups(partition, after, size) {
        const { collectionId } = readPartitionName(partition);
        const rows = await sql<{ doc: string; change_no: string }[]>`
          select doc, change_no from retrieval.documents
          where collection_id = ${collectionId} and change_no > ${String(after)}::bigint
          order by change_no fetch first ${size} rows with ties`;
        return rows.map(({ doc, change_no }) => ({ group: doc, changeNo: BigInt(change_no) }));
      },
      async entriesOf(partition, groups) {
        const { collectionId, version } = readPartitionName(partition);
        const rows = await sql<ChunkRow[]>`
          select ${columns}
          where d.collection_id = ${collectionId} and c.version = ${version} and c.doc = any(${[...groups]}::bigint[])
          order by c.doc, c.no`;
        return rows.map(entryOf);
      },
    },
    { pageSize, groupsAtOnce },
  );
}

function entryOf({ doc, chunk_id, doc_id, labels, metadata, terms, vector }: ChunkRow): IndexEntry {
  return {
    id: chunk_id,
    group: doc,
    labels,
    attributes: chunkAttributes(doc_id, metadata),
    terms: terms === '' ? [] : terms.split(' '),
    ...(vector === '' ? {} : { vector: vectorOf(vector) }),
  };
}

/** Copies the bytes, because 32-bit numbers require an aligned offset. */
function vectorOf(base64: string): Float32Array {
  const bytes = Buffer.from(base64, 'base64');
  const vector = new Float32Array(bytes.length / Float32Array.BYTES_PER_ELEMENT);
  new Uint8Array(vector.buffer).set(bytes);
  return vector;
}
