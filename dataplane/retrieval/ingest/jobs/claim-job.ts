import type { Sql, SqlPart } from '#sql/connect';
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
 * Number of due jobs of one tenant and op, and of all tenants, from which a claim chooses: more than workers usually
 * claim at one moment.
 */
const firstJobs = 4;
const mostFirst = 16;

/**
 * Claims a due job: a new job, a job whose lease has expired, or a job whose pause has ended. The tenant with the
 * fewest jobs in progress is preferred, so that the queue of one tenant does not delay the others; among equal tenants
 * one is chosen at random, so that each tenant is claimed after a few attempts. Among the jobs of a tenant, deletions
 * are first, then the job that is due first. The delivery is counted at the claim, so that the death of a worker is
 * counted, too. Leases are measured by the clock of the database.
 */
export async function claimJob(sql: Sql, leaseMs: number): Promise<ClaimedJob | undefined> {
  const next = await claimFirst(
    sql,
    leaseMs,
    (tenant) => sql`
    (${firstOf(sql, tenant, 'delete')}) union all (${firstOf(sql, tenant, 'upsert')})`,
  );
  // Other workers may be claiming all of these jobs at this moment.
  return next ?? (await claimAny(sql, leaseMs));
}

/** Claims a due deletion, as `claimJob` does. */
export function claimDeletion(sql: Sql, leaseMs: number): Promise<ClaimedJob | undefined> {
  return claimFirst(sql, leaseMs, (tenant) => firstOf(sql, tenant, 'delete'));
}

async function claimFirst(
  sql: Sql,
  leaseMs: number,
  jobsOf: (tenant: SqlPart) => SqlPart,
): Promise<ClaimedJob | undefined> {
  // The tenants with open jobs are read with one index lookup per tenant, whatever the number of their jobs.
  const [row] = await sql<ClaimedJob[]>`
    with recursive tenants (tenant) as (
      (select j.tenant from retrieval.jobs j where ${isOpen(sql)} order by j.tenant limit 1)
      union all
      select (
        select j.tenant from retrieval.jobs j where ${isOpen(sql)} and j.tenant > t.tenant order by j.tenant limit 1)
      from tenants t where t.tenant is not null),
    drawn as materialized (select tenant, random() as draw from tenants where tenant is not null),
    leased as materialized (
      select tenant, count(*) as jobs from retrieval.jobs
      where status = 'RUNNING' and retry_at is null and due_at > statement_timestamp() group by tenant),
    first as materialized (
      select f.job_id, f.op, f.due_at, f.seq, t.draw, coalesce(l.jobs, 0) as leased
      from drawn t left join leased l using (tenant) cross join lateral (${jobsOf(sql`t.tenant`)}) f
      order by leased, t.draw, f.op, f.due_at, f.seq limit ${mostFirst})
    ${claim(
      sql,
      leaseMs,
      sql`
      select j.job_id from first f join retrieval.jobs j using (job_id) where ${isDue(sql)}
      order by f.leased, f.draw, f.op, f.due_at, f.seq for update of j skip locked limit 1`,
    )}`;
  return row;
}

async function claimAny(sql: Sql, leaseMs: number): Promise<ClaimedJob | undefined> {
  const [row] = await sql<ClaimedJob[]>`${claim(
    sql,
    leaseMs,
    sql`select j.job_id from retrieval.jobs j where ${isDue(sql)} order by j.due_at, j.seq for update skip locked limit 1`,
  )}`;
  return row;
}

function firstOf(sql: Sql, tenant: SqlPart, op: JobOp): SqlPart {
  return sql`
    select j.job_id, j.op, j.due_at, j.seq from retrieval.jobs j
    where j.tenant = ${tenant} and j.op = ${op} and ${isDue(sql)} order by j.due_at, j.seq limit ${firstJobs}`;
}

function claim(sql: Sql, leaseMs: number, jobId: SqlPart): SqlPart {
  return sql`
    update retrieval.jobs set status = 'RUNNING', attempt = attempt + 1, deliveries = deliveries + 1, retry_at = null,
      due_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond', updated_at = clock_timestamp()
    where job_id = (${jobId})
    returning job_id as "jobId", attempt, tenant, collection_id as "collectionId", doc, doc_id as "docId", seq, op,
      content_hash as "contentHash", payload_key as "payloadKey", trace_id as "traceId"`;
}

/** Conditions of a job `j`. */
function isOpen(sql: Sql): SqlPart {
  return sql`j.status in ('PENDING', 'RUNNING')`;
}

/** statement_timestamp() is constant within a statement, so that an index can be used; clock_timestamp() differs for each row. */
function isDue(sql: Sql): SqlPart {
  return sql`${isOpen(sql)} and j.due_at <= statement_timestamp() and j.deliveries < ${mostDeliveries}`;
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
