import type { IngestJob } from '#contracts/retrieval';
import type { Sql } from '#sql/connect';

/** States by which jobs can be listed: the states of a job, and FAILED jobs whose deliveries are used up. */
export const jobStates = ['PENDING', 'RUNNING', 'DONE', 'FAILED', 'DEAD_LETTER'] as const;

type JobState = (typeof jobStates)[number];

type JobRow = Omit<IngestJob, 'created_at' | 'updated_at' | 'available_at'> & {
  readonly collectionId: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly available_at: Date | null;
};

/** A job, and the collection whose rights decide access to it. */
export type FoundJob = { readonly collectionId: string; readonly job: IngestJob };

export async function findJob(sql: Sql, tenant: string, jobId: string): Promise<FoundJob | undefined> {
  const [row] = await sql<JobRow[]>`${columns(sql)} where job_id = ${jobId} and tenant = ${tenant}`;
  return row === undefined ? undefined : { collectionId: row.collectionId, job: jobOf(row) };
}

/**
 * Jobs of a collection, the newest first; ids are UUIDs of version 7, which are ordered by time. Those of masked texts of an
 * earlier release have a random place.
 */
export async function selectJobs(
  sql: Sql,
  collection: { readonly tenant: string; readonly collectionId: string },
  page: { readonly state: JobState | undefined; readonly before: string | undefined; readonly limit: number },
): Promise<readonly IngestJob[]> {
  const { state, before, limit } = page;
  const rest = before === undefined ? sql`true` : sql`job_id < ${before}`;
  const rows = await sql<JobRow[]>`
    ${columns(sql)} where tenant = ${collection.tenant} and collection_id = ${collection.collectionId}
      and ${inState(sql, state)} and ${rest}
    order by job_id desc limit ${limit}`;
  return rows.map(jobOf);
}

/** States are literals: a plan that serves every value of a parameter cannot use the indexes of some states. */
function inState(sql: Sql, state: JobState | undefined) {
  switch (state) {
    case undefined:
      return sql`true`;
    case 'PENDING':
      return sql`status = 'PENDING'`;
    case 'RUNNING':
      return sql`status = 'RUNNING'`;
    case 'DONE':
      return sql`status = 'DONE'`;
    case 'FAILED':
      return sql`status = 'FAILED'`;
    case 'DEAD_LETTER':
      return sql`dead_lettered_at is not null`;
  }
}

function columns(sql: Sql) {
  return sql`
    select job_id, collection_id as "collectionId", collection, tenant as tenant_id, doc_id, op, content_hash,
      idempotency_key, status, payload_uri, payload_bytes::float8 as payload_bytes, attempt as attempts,
      failure as error, trace_id, created_at, updated_at, available_at
    from retrieval.jobs`;
}

function jobOf({ collectionId: _collectionId, ...row }: JobRow): IngestJob {
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    available_at: row.available_at?.toISOString() ?? null,
  };
}
