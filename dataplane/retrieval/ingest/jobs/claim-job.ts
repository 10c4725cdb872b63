import type { Sql } from '#sql/connect';
import type { JobOp } from '../submit/decide-submit.ts';

/** A job that this worker may process until another claim follows. */
export type ClaimedJob = {
  readonly jobId: string;
  /** Number of the claim. Every write names it and is refused after a later claim. */
  readonly attempt: number;
  readonly tenant: string;
  readonly collectionId: string;
  readonly doc: string;
  readonly docId: string;
  readonly seq: string;
  readonly op: JobOp;
  readonly contentHash: string;
  readonly payloadKey: string | null;
  readonly traceId: string;
};

/** Deliveries after which a job is a dead letter instead of being claimed again (`retrieval:limits:dead-letter`). */
export const mostDeliveries = 5;

/**
 * Claims the job that is due first: a new one, one whose lease has expired, or one whose pause has ended. The delivery
 * is counted at the claim, so that a worker that dies is counted, too. Leases are measured by the clock of the
 * database.
 */
export async function claimJob(sql: Sql, leaseMs: number): Promise<ClaimedJob | undefined> {
  const [row] = await sql<ClaimedJob[]>`
    update retrieval.jobs set status = 'RUNNING', attempt = attempt + 1, deliveries = deliveries + 1, retry_at = null,
      due_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond', updated_at = clock_timestamp()
    where job_id = (
      select job_id from retrieval.jobs
      where status in ('PENDING', 'RUNNING') and due_at <= clock_timestamp() and deliveries < ${mostDeliveries}
      order by due_at, seq for update skip locked limit 1)
    returning job_id as "jobId", attempt, tenant, collection_id as "collectionId", doc, doc_id as "docId", seq, op,
      content_hash as "contentHash", payload_key as "payloadKey", trace_id as "traceId"`;
  return row;
}

/** Extends the lease of a claim; false if the claim has ended. */
export async function renewLease(
  sql: Sql,
  { jobId, attempt }: Pick<ClaimedJob, 'jobId' | 'attempt'>,
  leaseMs: number,
): Promise<boolean> {
  const rows = await sql`
    update retrieval.jobs set due_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    where job_id = ${jobId} and attempt = ${attempt} and status = 'RUNNING' returning job_id`;
  return rows.length > 0;
}
