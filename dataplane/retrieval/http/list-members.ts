import { success } from '#api/operation';
import { listedMembers } from '../access/grants.ts';
import { findGroup } from './find-group.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Lists the members of a group of the tenant. Groups are not created: a group without members has an empty list. */
export async function listMembers(request: RetrievalRequest): Promise<RetrievalResponse> {
  const found = await findGroup(request);
  if (found.kind === 'error') return found;
  return success({ members: await listedMembers(request.service.relations, request.caller, found.object) });
}
