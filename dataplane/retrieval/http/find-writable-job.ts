import { failure } from '#api/operation';
import { mayWrite } from '../access/permissions.ts';
import { findCollection } from '../collections/collection-record.ts';
import { type FoundJob, findJob } from './job-record.ts';
import type { RetrievalError, RetrievalRequest } from './retrieval.ts';

/** The job in the path, if the caller may write into its collection now. */
export async function findWritableJob({
  service,
  caller,
  path,
}: RetrievalRequest): Promise<({ readonly kind: 'job' } & FoundJob) | RetrievalError> {
  const { sql } = service.database;
  const found = await findJob(sql, caller.tenant, path('job_id'));
  if (found === undefined) return failure('not_found');
  const collection = await findCollection(sql, caller.tenant, { id: found.collectionId });
  if (collection === undefined) return failure('not_found');
  return (await mayWrite(service.relations, caller, collection)) ? { kind: 'job', ...found } : failure('forbidden');
}
