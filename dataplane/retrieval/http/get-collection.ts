import { success } from '#api/operation';
import { collectionOf } from '../collections/collection-record.ts';
import { findReadable } from './find-readable.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Reads one collection. */
export async function getCollection(request: RetrievalRequest): Promise<RetrievalResponse> {
  const found = await findReadable(request, request.path('collection_id'));
  return found.kind === 'error' ? found : success(collectionOf(found.collection));
}
