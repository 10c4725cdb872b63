import { readerGrantSchema } from '#contracts/retrieval-grants';
import { changeRelation } from './change-relation.ts';
import { findOwned } from './find-owned.ts';
import { readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Grants a user or an agent the right to read a collection of the caller. */
export async function grantReader(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(readerGrantSchema, request.body);
  if (read.kind === 'error') return read;
  const owned = await findOwned(request);
  if (owned.kind === 'error') return owned;
  return changeRelation(request, 'give', { holder: read.value, relation: 'reader', object: owned.object });
}
