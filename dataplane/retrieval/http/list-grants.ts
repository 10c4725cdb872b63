import { success } from '#api/operation';
import { grantsOf } from '../access/grants.ts';
import { findOwned } from './find-owned.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Lists the owner, writers and readers of a collection of the caller. */
export async function listGrants(request: RetrievalRequest): Promise<RetrievalResponse> {
  const owned = await findOwned(request);
  if (owned.kind === 'error') return owned;
  return success({ grants: await grantsOf(request.service.relations, request.caller, owned.object) });
}
