import { success } from '#api/operation';
import { findWritableJob } from './find-writable-job.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Reads one job from the job table. */
export async function getJob(request: RetrievalRequest): Promise<RetrievalResponse> {
  const found = await findWritableJob(request);
  return found.kind === 'error' ? found : success(found.job);
}
