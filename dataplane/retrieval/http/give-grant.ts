import { collectionGrantSchema } from '#contracts/retrieval-grants';
import { changeRelation } from './change-relation.ts';
import { findOwned } from './find-owned.ts';
import { readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Grants the right to read or write a collection of the caller. */
export async function giveGrant(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(collectionGrantSchema, request.body);
  if (read.kind === 'error') return read;
  const owned = await findOwned(request);
  if (owned.kind === 'error') return owned;
  const { relation, ...holder } = read.value;
  return changeRelation(request, 'give', { holder, relation, object: owned.object });
}
