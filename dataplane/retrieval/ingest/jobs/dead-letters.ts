import type { Sql } from '#sql/connect';
import { mostDeliveries } from './claim-job.ts';

/**
 * Fails jobs that were delivered too often: the sixth delivery makes a job a dead letter. Returns the number of these
 * jobs.
 */
export async function buryJobs(sql: Sql): Promise<number> {
  const rows = await sql`
    update retrieval.jobs set status = 'FAILED', failure_code = 'too_many_deliveries',
      failure = ${`${mostDeliveries} deliveries ended without an answer: replay the job after the cause is removed`},
      dead_lettered_at = clock_timestamp(), updated_at = clock_timestamp(), retry_at = null
    where job_id in (
      select job_id from retrieval.jobs
      where status in ('PENDING', 'RUNNING') and due_at <= clock_timestamp() and deliveries >= ${mostDeliveries}
      order by due_at for update skip locked limit 100)
    returning job_id`;
  return rows.length;
}

type ReplayOutcome =
  | 'replayed'
  | 'absent'
  /** The job is not FAILED. */
  | 'not_failed'
  /** The staged original was deleted: the document must be submitted with another idempotency_key. */
  | 'original_deleted';

/**
 * Gives a FAILED job five more deliveries under the same job_id and sequence number. If a later job has taken effect,
 * the replay ends DONE and changes nothing, whether or not the staged original exists.
 */
export async function replayJob(
  sql: Sql,
  job: { readonly tenant: string; readonly jobId: string },
): Promise<ReplayOutcome> {
  const rows = await sql`
    update retrieval.jobs set status = 'PENDING', settled = false, deliveries = 0, due_at = clock_timestamp(), retry_at = null,
      unavailable_since = null, failure_code = null, failure = null, dead_lettered_at = null, updated_at = clock_timestamp()
    where job_id = ${job.jobId} and tenant = ${job.tenant} and status = 'FAILED' and (staged or op = 'delete' or exists (
        select from retrieval.documents d where d.doc = jobs.doc and d.live_seq > jobs.seq))
    returning job_id`;
  if (rows.length > 0) return 'replayed';
  const [row] = await sql<{ status: string }[]>`
    select status from retrieval.jobs where job_id = ${job.jobId} and tenant = ${job.tenant}`;
  if (row === undefined) return 'absent';
  return row.status === 'FAILED' ? 'original_deleted' : 'not_failed';
}
