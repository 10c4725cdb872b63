import type { Sql, TransactionSql } from '#sql/connect';
import type { ClaimedJob } from './claim-job.ts';

/** The content hash of a job that a reindex makes. No caller can submit it, because it contains the random id of the job. */
export function maskingHash(jobId: string): string {
  return `reindex-${jobId}`;
}

/** The idempotency key of the jobs of a reindex. */
export function maskingKey(version: number): string {
  return `reindex-${version}`;
}

/** The SQL condition that a reindex made the job `j`, for one version if a version is given. */
export function maskingJob(sql: Sql | TransactionSql, version?: number) {
  const ofVersion = version === undefined ? sql`` : sql`and j.idempotency_key = ${maskingKey(version)}`;
  return sql`j.content_hash = 'reindex-' || j.job_id::text ${ofVersion}`;
}

/**
 * Whether a reindex made the job, which replaces a stored text by its masked form. No limit refuses the masked text,
 * because otherwise the text without the mask would stay live.
 */
export function isMaskingJob({ jobId, contentHash }: Pick<ClaimedJob, 'jobId' | 'contentHash'>): boolean {
  return contentHash === maskingHash(jobId);
}
