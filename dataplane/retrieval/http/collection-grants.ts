import { success } from '#api/operation';
import { collectionGrantSchema, readerGrantSchema } from '#contracts/retrieval-grants';
import { grantsOf } from '../access/grants.ts';
import { changeRelation } from './change-relation.ts';
import { findOwned } from './find-owned.ts';
import { readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Lists the owner, writers and readers of a collection of the caller. */
export async function listGrants(request: RetrievalRequest): Promise<RetrievalResponse> {
  const owned = await findOwned(request);
  if (owned.kind === 'error') return owned;
  return success({ grants: await grantsOf(request.service.relations, request.caller, owned.object) });
}

/** Grants the right to read or write a collection of the caller. */
export async function giveGrant(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(collectionGrantSchema, request.body);
  if (read.kind === 'error') return read;
  const owned = await findOwned(request);
  if (owned.kind === 'error') return owned;
  const { object, isPermitted } = owned;
  const { relation, ...holder } = read.value;
  return changeRelation(request, 'grant', { holder, relation, object, isPermitted });
}

/** Revokes the right to read or write a collection of the caller. */
export async function revokeGrant(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(collectionGrantSchema, request.body);
  if (read.kind === 'error') return read;
  const owned = await findOwned(request);
  if (owned.kind === 'error') return owned;
  const { object, isPermitted } = owned;
  const { relation, ...holder } = read.value;
  return changeRelation(request, 'revoke', { holder, relation, object, isPermitted });
}

/** Grants a user or an agent the right to read a collection of the caller. */
export async function grantReader(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(readerGrantSchema, request.body);
  if (read.kind === 'error') return read;
  const owned = await findOwned(request);
  if (owned.kind === 'error') return owned;
  const { object, isPermitted } = owned;
  return changeRelation(request, 'grant', { holder: read.value, relation: 'reader', object, isPermitted });
}
