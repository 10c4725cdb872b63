import { failure, success } from '#api/operation';
import { readLimit } from '#api/pages';
import { listLimits } from '#contracts/retrieval-documents';
import { mayWrite } from '../access/permissions.ts';
import { findNamed } from './find-readable.ts';
import { jobStates, selectJobs } from './job-record.ts';
import { jobCursors } from './page-parameters.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Lists the jobs of one collection, newest first, for callers that may write to it. */
export async function listJobs(request: RetrievalRequest): Promise<RetrievalResponse> {
  const { service, caller, query } = request;
  const named = await findNamed(request, query['collection'] ?? '');
  if (named.kind === 'error') return named;
  const { collection } = named;
  if (!(await mayWrite(service.relations, caller, collection))) return failure('forbidden');
  const limit = readLimit(query['limit'], listLimits.page) ?? listLimits.page.default;
  const items = await selectJobs(service.database.sql, collection, {
    state: jobStates.find((state) => state === query['state']),
    before: query['page_token'],
    limit: limit + 1,
  });
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  const next = items.length > limit && last !== undefined ? jobCursors.write(last.job_id) : null;
  return success({ items: shown, next_page_token: next });
}
