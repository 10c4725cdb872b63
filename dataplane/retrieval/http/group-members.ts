import { success } from '#api/operation';
import { groupMemberSchema } from '#contracts/retrieval-grants';
import { listedMembers } from '../access/grants.ts';
import { changeRelation } from './change-relation.ts';
import { findGroup } from './find-group.ts';
import { readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Lists the members of a group of the tenant. Groups are not created: a group without members has an empty list. */
export async function listMembers(request: RetrievalRequest): Promise<RetrievalResponse> {
  const found = await findGroup(request);
  if (found.kind === 'error') return found;
  return success({ members: await listedMembers(request.service.relations, request.caller, found.object) });
}

/** Adds a member to a group of the tenant. */
export async function addMember(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(groupMemberSchema, request.body);
  if (read.kind === 'error') return read;
  const found = await findGroup(request);
  if (found.kind === 'error') return found;
  const { object, isPermitted } = found;
  return changeRelation(request, 'grant', { holder: read.value, relation: 'member', object, isPermitted });
}

/** Removes a member from a group of the tenant. */
export async function removeMember(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(groupMemberSchema, request.body);
  if (read.kind === 'error') return read;
  const found = await findGroup(request);
  if (found.kind === 'error') return found;
  const { object, isPermitted } = found;
  return changeRelation(request, 'revoke', { holder: read.value, relation: 'member', object, isPermitted });
}
