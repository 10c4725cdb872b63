import type { Sql } from '#sql/connect';

/** A collection to which a batch adds documents. */
type FilledCollection = {
  readonly collectionId: string;
  readonly chunkCount: number;
  /** Bytes of the text of its live documents. */
  readonly textBytes: number;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
  /** Dimension of the vectors of its profile. */
  readonly dimension: number;
};

/** The share of the index that one collection may need: replaced documents take up to a third of it. */
const shareOfCollection = 2 / 3;
/** The index pads vectors to whole steps of this many bytes. */
const vectorStep = 64;
/** Bytes of a row in addition to its vector and its terms: ids, labels and values. */
const rowBytes = 440;
/** Bytes of the terms and attributes of a text per byte of the text. */
const bytesOfText = 2;

type Contents = { readonly chunks: number; readonly textBytes: number };

/** Estimated bytes that the embedded index needs for one version (docs/design/retrieval-ingest.md, "Quotas"). */
export function estimateIndexBytes({ chunks, textBytes }: Contents, dimension: number): number {
  const vectorBytes = Math.ceil((4 * dimension) / vectorStep) * vectorStep;
  return chunks * (vectorBytes + rowBytes) + bytesOfText * textBytes;
}

/**
 * Whether each collection, including the documents that wait for ingest, needs less than its share of the embedded
 * index.
 * @param mostBytes the maximum size of the index; undefined if the index has none
 */
export async function isIndexRoomLeft(
  sql: Sql,
  collections: readonly FilledCollection[],
  mostBytes: number | undefined,
): Promise<boolean> {
  if (mostBytes === undefined || collections.length === 0) return true;
  const rows = await sql<{ collection_id: string; jobs: number; bytes: number }[]>`
    select collection_id, count(*)::int as jobs, coalesce(sum(payload_bytes), 0)::float8 as bytes from retrieval.jobs
    where collection_id in ${sql(collections.map(({ collectionId }) => collectionId))}
      and status in ('PENDING', 'RUNNING') and op = 'upsert'
    group by collection_id`;
  const waiting = new Map(rows.map((row) => [row.collection_id, row]));
  return collections.every((one) => {
    const { jobs, bytes } = waiting.get(one.collectionId) ?? { jobs: 0, bytes: 0 };
    const chunks = one.chunkCount + jobs + Math.floor(bytes / (one.chunkSize - one.chunkOverlap));
    const needed = estimateIndexBytes({ chunks, textBytes: one.textBytes + bytes }, one.dimension);
    return needed < Math.floor(mostBytes * shareOfCollection);
  });
}
