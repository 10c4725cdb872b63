import { failure, success } from '#api/operation';
import type { IngestJob } from '#contracts/retrieval';
import type { Sql } from '#sql/connect';
import { mayWrite } from '../access/permissions.ts';
import { findCollection } from '../collections/collection-record.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Reads one job from the job table. */
export async function getJob({ service, caller, path }: RetrievalRequest): Promise<RetrievalResponse> {
  const { sql } = service.database;
  const row = await findJob(sql, caller.tenant, path('job_id'));
  if (row === undefined) return failure('not_found');
  const collection = await findCollection(sql, caller.tenant, { id: row.collectionId });
  if (collection === undefined) return failure('not_found');
  return (await mayWrite(service.relations, caller, collection)) ? success(jobOf(row)) : failure('forbidden');
}

type JobRow = Omit<IngestJob, 'created_at' | 'updated_at' | 'available_at'> & {
  readonly collectionId: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly available_at: Date | null;
};

async function findJob(sql: Sql, tenant: string, jobId: string): Promise<JobRow | undefined> {
  const [row] = await sql<JobRow[]>`
    select job_id, collection_id as "collectionId", collection, tenant as tenant_id, doc_id, op, content_hash,
      idempotency_key, status, payload_uri, payload_bytes::float8 as payload_bytes, attempt as attempts,
      failure as error, trace_id, created_at, updated_at, available_at
    from retrieval.jobs where job_id = ${jobId} and tenant = ${tenant}`;
  return row;
}

function jobOf({ collectionId: _collectionId, ...row }: JobRow): IngestJob {
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    available_at: row.available_at?.toISOString() ?? null,
  };
}
