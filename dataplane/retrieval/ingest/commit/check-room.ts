import type { Database } from '#sql/connect';
import { DocumentFault } from '../faults.ts';
import type { ClaimedJob } from '../jobs/claim-job.ts';
import { estimateIndexBytes } from '../submit/check-index-room.ts';

/** Limits that a document must not exceed when it becomes live: at the submit the size of its text is not known. */
export type StoreBounds = {
  /** Stored bytes of text and metadata of one tenant. */
  readonly tenantBytes: number;
  /** The embedded index; undefined where the index has no bound. */
  readonly indexBytes: number | undefined;
};

type RoomTools = {
  readonly database: Database;
  readonly bounds: StoreBounds;
  readonly profileOf: (id: string) => { readonly dimension: number } | undefined;
};

/**
 * Refuses a text that exceeds the quota of its tenant or the size of the index, before the text is embedded: a submit
 * counts only the staged bytes, not the bytes that a content_ref refers to, nor the repeated headers of a table. A text
 * that is not longer than the text that it replaces is always allowed. Concurrent jobs can together exceed a limit
 * once.
 * @throws DocumentFault
 */
export async function checkRoom(
  { database, bounds, profileOf }: RoomTools,
  job: ClaimedJob,
  live: { readonly text: string; readonly metadata: object },
): Promise<void> {
  const added = Buffer.byteLength(live.text) + Buffer.byteLength(JSON.stringify(live.metadata));
  const [now] = await database.sql<Contents[]>`
    select k.text_bytes::float8 as "textBytes", k.chunk_count as chunks, k.chunk_size - k.chunk_overlap as step,
      k.embedding_profile_id as "profileId",
      (select coalesce(sum(text_bytes), 0)::float8 from retrieval.collections
        where tenant = ${job.tenant} and status <> 'deleted') as "tenantBytes",
      (select coalesce(sum(octet_length(d.text) + octet_length(d.metadata::text)), 0)::float8 from retrieval.documents d
        where d.doc = ${job.doc} and not d.deleted) as "replacedBytes",
      (select coalesce(sum(char_length(d.text)), 0)::float8 from retrieval.documents d
        where d.doc = ${job.doc} and not d.deleted) as "replacedLength"
    from retrieval.collections k where k.collection_id = ${job.collectionId}`;
  const more = added - (now?.replacedBytes ?? 0);
  if (now === undefined || more <= 0) return;
  if (now.tenantBytes + more > bounds.tenantBytes) {
    const remedy = 'delete documents or ask the operator for a larger quota, then replay the job';
    throw new DocumentFault('tenant_full', `the tenant has no room for the text of the document: ${remedy}`);
  }
  const dimension = profileOf(now.profileId)?.dimension ?? 0;
  const moreUnits = Math.max(0, live.text.length - now.replacedLength);
  const chunks = now.chunks + Math.ceil(moreUnits / now.step);
  const needed = estimateIndexBytes({ chunks, textBytes: now.textBytes + more }, dimension);
  if (bounds.indexBytes === undefined || needed <= bounds.indexBytes) return;
  const remedy = 'delete documents, divide the collection or ask the operator for a larger index, then replay the job';
  throw new DocumentFault('index_full', `the index has no room for the text of the document: ${remedy}`);
}

type Contents = {
  readonly textBytes: number;
  readonly chunks: number;
  /** UTF-16 units from the beginning of one chunk to the beginning of the next. */
  readonly step: number;
  readonly profileId: string;
  readonly tenantBytes: number;
  /** Bytes of the live text that the document replaces. */
  readonly replacedBytes: number;
  /** Characters of that text: not more than its UTF-16 units. */
  readonly replacedLength: number;
};
