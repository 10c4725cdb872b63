import { failure } from '#api/operation';
import { replayJob } from '../ingest/jobs/dead-letters.ts';
import { findWritableJob } from './find-writable-job.ts';
import { findJob } from './job-record.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Gives a FAILED job new deliveries under its id. */
export async function answerReplayJob(request: RetrievalRequest): Promise<RetrievalResponse> {
  const found = await findWritableJob(request);
  if (found.kind === 'error') return found;
  const { service, caller } = request;
  const { sql } = service.database;
  const { tenant } = caller;
  const jobId = request.path('job_id');
  switch (await replayJob(sql, { tenant, jobId })) {
    case 'replayed': {
      service.hint();
      const replayed = await findJob(sql, tenant, jobId);
      return replayed === undefined ? failure('not_found') : { kind: 'success', status: 202, body: replayed.job };
    }
    case 'absent':
      return failure('not_found');
    case 'not_failed':
      return failure('conflict', [{ path: 'job_id', message: 'names a job that is not FAILED' }]);
    case 'original_deleted':
      return failure('conflict', [
        {
          path: 'job_id',
          message: 'names a job whose original was deleted: submit the document with another idempotency_key',
        },
      ]);
  }
}
