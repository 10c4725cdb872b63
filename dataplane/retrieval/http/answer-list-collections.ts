import { readLimit } from '#api/pages';
import { listLimits } from '#contracts/retrieval-documents';
import { listCollections } from './list-collections.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Lists the collections that the caller may read: all of them, or a page of them where the request has a parameter. */
export function answerListCollections(request: RetrievalRequest): Promise<RetrievalResponse> {
  const { limit, after } = request.query;
  return listCollections(request, {
    after,
    limit: limit === undefined ? undefined : readLimit(limit, listLimits.page),
  });
}
