import type { FailingProvider } from '#contracts/failing-provider';
import type { Sql } from '#sql/connect';
import type { ClaimedJob } from './claim-job.ts';
import { retryPause } from './retry-pause.ts';

type Claim = Pick<ClaimedJob, 'jobId' | 'attempt'>;

/** How long a job waits for dependencies before it becomes a dead letter, hours. */
export const longestUnavailabilityHours = 24;

/**
 * A processing error of the document: the job ends FAILED with its reason (`retrieval:job-state:failed-fills-error`).
 * @returns false if the claim has ended: a later job superseded this job, or another worker claimed it
 */
export async function failJob(
  sql: Sql,
  claim: Claim,
  failure: { readonly code: string; readonly message: string },
): Promise<boolean> {
  const rows = await sql`
    update retrieval.jobs set status = 'FAILED', failure_code = ${failure.code}, failure = ${failure.message},
      retry_at = null, updated_at = clock_timestamp()
    where job_id = ${claim.jobId} and attempt = ${claim.attempt} and status = 'RUNNING' returning job_id`;
  return rows.length > 0;
}

/** Why a claim ends although the job is not at fault. */
type Release = {
  readonly dependency: string;
  /** The detector or classifier that did not judge, where that is the cause. */
  readonly failing: FailingProvider | undefined;
  /** Whether the attempt wrote chunks, which the next attempt keeps: the time without progress then starts again. */
  readonly hasProgress: boolean;
};

/**
 * A dependency is unavailable: the lease ends, the delivery does not count, and the job stays RUNNING until retry_at.
 * After 24 hours without progress the job is a dead letter.
 */
export async function releaseJob(sql: Sql, claim: Claim, { dependency, failing, hasProgress }: Release): Promise<void> {
  const since = () => sql`coalesce(case when not ${hasProgress} then unavailable_since end, at)`;
  await sql`
    update retrieval.jobs j set
      deliveries = deliveries - 1, updated_at = f.at, unavailable_since = f.since,
      status = case when f.is_over then 'FAILED' else 'RUNNING' end,
      failure_code = case when f.is_over then 'dependency_unavailable' end,
      failure = case when f.is_over
        then ${`${dependency} did not answer for ${longestUnavailabilityHours} hours: replay the job when it does`} end,
      dead_lettered_at = case when f.is_over then f.at end,
      retry_at = case when not f.is_over then f.at + f.pause end,
      due_at = f.at + f.pause,
      failing_provider = ${failing === undefined ? null : sql.json(failing)}
    from (
      select job_id, at, ${since()} as since, at - ${since()} >= ${longestUnavailabilityHours} * interval '1 hour' as is_over,
        ${retryPause(sql, sql`at - ${since()}`)} as pause
      from retrieval.jobs, (select clock_timestamp() as at) c
      where job_id = ${claim.jobId} and attempt = ${claim.attempt} and status = 'RUNNING' for update of jobs
    ) f
    where j.job_id = f.job_id`;
}

/**
 * Ends an attempt in which the worker failed for a reason unrelated to the document: the delivery counts, and the next
 * one follows later.
 */
export async function abandonJob(sql: Sql, claim: Claim): Promise<void> {
  await sql`
    update retrieval.jobs set updated_at = clock_timestamp(),
      due_at = clock_timestamp() + power(2, deliveries) * interval '1 second'
    where job_id = ${claim.jobId} and attempt = ${claim.attempt} and status = 'RUNNING'`;
}

/** The worker shuts down: another worker may take the job immediately, and the delivery does not count. */
export async function returnJob(sql: Sql, claim: Claim): Promise<void> {
  await sql`
    update retrieval.jobs set deliveries = deliveries - 1, due_at = clock_timestamp(), updated_at = clock_timestamp()
    where job_id = ${claim.jobId} and attempt = ${claim.attempt} and status = 'RUNNING'`;
}
