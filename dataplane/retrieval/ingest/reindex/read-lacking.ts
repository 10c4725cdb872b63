import type { Database } from '#sql/connect';
import { DocumentFault } from '../faults.ts';
import { maskingJob } from '../jobs/masking-job.ts';
import type { ClaimedVersion } from './claim-version.ts';

/** Number of documents that one statement looks up. */
const batch = 100;

type LackingDocuments = {
  /** Keys of the documents. */
  readonly toBuild: readonly string[];
  /** The last document key that was looked up; undefined if no document follows. */
  readonly last: string | undefined;
};

type LackingRow = { readonly doc: string; readonly jobId: string | null; readonly failed: string | null };

/**
 * Live documents that the version lacks, without their texts, in the order of their keys. A document whose masked text
 * an open job of this reindex is writing is left to that job.
 * @throws DocumentFault if such a job has failed: the version would never be complete
 */
export async function readLacking(
  { sql }: Pick<Database, 'sql'>,
  { collectionId, version }: Pick<ClaimedVersion, 'collectionId' | 'version'>,
  after: string,
): Promise<LackingDocuments> {
  const rows = await sql<LackingRow[]>`
    select d.doc, j.job_id as "jobId", case when j.status = 'FAILED' then coalesce(j.failure, j.failure_code) end as failed
    from retrieval.documents d
    left join retrieval.jobs j on j.doc = d.doc and j.seq = d.last_seq and j.seq > d.live_seq
      and ${maskingJob(sql, version)}
    where d.collection_id = ${collectionId} and not d.deleted and d.doc > ${after} and not exists (
      select 1 from retrieval.indexed_documents i
      where i.doc = d.doc and i.version = ${version} and i.seq = d.live_seq)
    order by d.doc limit ${batch}`;
  const failed = rows.find((row) => row.failed !== null);
  if (failed !== undefined) {
    throw new DocumentFault(
      'masking_failed',
      `job ${failed.jobId}, which masks a stored text, is FAILED: ${failed.failed}; submit or delete its document, then ` +
        'reindex again',
    );
  }
  return {
    toBuild: rows.filter(({ jobId }) => jobId === null).map(({ doc }) => doc),
    last: rows.length === batch ? rows.at(-1)?.doc : undefined,
  };
}
