import { success } from '#api/operation';
import { findReadable } from './find-readable.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';
import { shownCollection } from './shown-collection.ts';

/** Reads one collection. */
export async function getCollection(request: RetrievalRequest): Promise<RetrievalResponse> {
  const found = await findReadable(request, request.path('collection_id'));
  return found.kind === 'error' ? found : success(await shownCollection(request, found.collection));
}
