import { failure } from '#api/operation';
import { watchClient } from '#api/watch-client';
import { type CreateCollection, createCollectionSchema } from '#contracts/retrieval';
import { RelationsModelError } from '#relations/relations-error';
import type { Database } from '#sql/connect';
import { grantEntries } from '../access/change-author.ts';
import { hasRoomBelow, mostLevels } from '../access/move-collection.ts';
import { beginningOf } from '../access/permissions.ts';
import { collectionOf, findCollection } from '../collections/collection-record.ts';
import { createCollection } from '../collections/create-collection.ts';
import { authorOfRequest } from './author-of-request.ts';
import { invalidBody, readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Creates a collection; the calling user becomes its owner. */
export async function answerCreateCollection(asked: RetrievalRequest): Promise<RetrievalResponse> {
  const { service, caller, body, incoming } = asked;
  const read = readRequest(createCollectionSchema, body);
  if (read.kind === 'error') return read;
  const request = read.value;
  if (!service.profiles().embedding.has(request.embedding_profile_id)) {
    return invalidBody([{ path: ['embedding_profile_id'], message: 'is not an approved embedding profile' }]);
  }
  const collectionId = request.collection_id ?? service.newId();
  if (request.parent_id === collectionId)
    return invalidBody([{ path: ['parent_id'], message: 'is the collection itself' }]);
  if (request.parent_id !== undefined) {
    const parent = await findCollection(service.database.sql, caller.tenant, { id: request.parent_id });
    if (parent === undefined)
      return invalidBody([{ path: ['parent_id'], message: 'is not a collection of this tenant' }]);
    if (!(await hasRoomBelow(service.database.sql, caller.tenant, request.parent_id))) {
      return invalidBody([{ path: ['parent_id'], message: `would make a tree of more than ${mostLevels} levels` }]);
    }
  }
  const beginning = await beginningOf(service.relations, caller, collectionId, request.parent_id);
  if (beginning === 'forbidden') return failure('forbidden');
  if (await isFull(service.database, caller.tenant, service.tenantQuota.collections)) {
    service.onLimitReached('collections');
    return failure('rate_limited');
  }
  using client = watchClient(incoming);
  const release = await service.creations.acquire(client.signal);
  try {
    const created = await createCollection(service.database, service.relations, {
      tenant: caller.tenant,
      collectionId,
      request,
      emptyAclPolicy: request.empty_acl_policy ?? service.defaultEmptyAclPolicy,
      managedBy: null,
      note: (sql, tuples) => {
        const by = authorOfRequest(asked);
        return service.audit.append(sql, grantEntries(tuples, by, service.clock.date()));
      },
      ...beginning,
    });
    if (created === 'taken') return await takenFailure(request, service.database, caller.tenant);
    return { kind: 'success', status: 201, body: collectionOf(created) };
  } catch (error) {
    if (error instanceof RelationsModelError) return failure('forbidden');
    throw error;
  } finally {
    release();
  }
}

/** Requests at the same time can together exceed the quota: it bounds the answers of lists and is not a protection. */
async function isFull({ sql }: Database, tenant: string, most: number): Promise<boolean> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from retrieval.collections where tenant = ${tenant} and status <> 'deleted' limit ${most}) c`;
  return (row?.count ?? 0) >= most;
}

/**
 * The failure that names the taken member; if the id belongs to another tenant, no more is said about that collection.
 */
async function takenFailure(
  { name, collection_id: id }: CreateCollection,
  { sql }: Database,
  tenant: string,
): Promise<RetrievalResponse> {
  const isNamed = (await findCollection(sql, tenant, { name })) !== undefined;
  // If the caller gave no id, only the name can be taken, even if the other collection was deleted meanwhile.
  if (isNamed || id === undefined) {
    return failure('conflict', [{ path: 'name', message: 'is the name of another collection: choose another one' }]);
  }
  return failure('conflict', [
    { path: 'collection_id', message: 'is or was the id of a collection: choose another one' },
  ]);
}
