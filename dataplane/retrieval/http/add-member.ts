import { groupMemberSchema } from '#contracts/retrieval-grants';
import { changeRelation } from './change-relation.ts';
import { findGroup } from './find-group.ts';
import { readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Adds a member to a group of the tenant. */
export async function addMember(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(groupMemberSchema, request.body);
  if (read.kind === 'error') return read;
  const found = await findGroup(request);
  if (found.kind === 'error') return found;
  return changeRelation(request, 'give', { holder: read.value, relation: 'member', object: found.object });
}
