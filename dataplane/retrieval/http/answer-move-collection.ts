import { failure, success } from '#api/operation';
import { changeEntry } from '#audit/change-entry';
import { collectionMoveSchema } from '#contracts/retrieval-grants';
import { mostLevels, moveCollection } from '../access/move-collection.ts';
import { mayWrite, owns } from '../access/permissions.ts';
import { collectionOf } from '../collections/collection-record.ts';
import { authorOfRequest } from './author-of-request.ts';
import { findNamed } from './find-readable.ts';
import { invalidBody, managedByResource, readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Moves a collection of the caller below another collection that the caller may write, or to the top level. */
export async function answerMoveCollection(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(collectionMoveSchema, request.body);
  if (read.kind === 'error') return read;
  const { parent_id: parentId } = read.value;
  const { service, caller } = request;
  const found = await findNamed(request, request.path('collection_id'));
  if (found.kind === 'error') return found;
  const { collectionId } = found.collection;
  const isOwner = () => owns(service.relations, caller, found.collection);
  if (!(await isOwner())) return failure('forbidden');
  if (found.collection.parentManaged) return failure('conflict', [managedByResource]);
  if (parentId !== null) {
    const parent = await findNamed(request, parentId);
    if (parent.kind === 'error')
      return invalidBody([{ path: ['parent_id'], message: 'is not a collection of this tenant' }]);
    if (!(await writesParent())) return failure('forbidden');
  }
  const moving = { action: 'collection.move', target: { type: 'collection', id: collectionId } } as const;
  const entry = changeEntry(moving, authorOfRequest(request), service.clock.date());
  // The request may have waited: the rights are asked again when its turn has come.
  const isPermitted = async () => (await isOwner()) && (await writesParent());
  const moved = await move(request, { tenant: caller.tenant, collectionId, parentId, entry, isPermitted });
  switch (moved) {
    case 'forbidden':
      return failure('forbidden');
    case 'not_found':
      return failure('not_found');
    case 'circle':
      return invalidBody([{ path: ['parent_id'], message: 'is the collection itself or below it' }]);
    case 'too_deep':
      return invalidBody([{ path: ['parent_id'], message: `would make a tree of more than ${mostLevels} levels` }]);
    case 'moved': {
      const after = await findNamed(request, collectionId);
      return after.kind === 'error' ? after : success(collectionOf(after.collection));
    }
  }

  async function writesParent(): Promise<boolean> {
    if (parentId === null) return true;
    return mayWrite(service.relations, caller, { tenant: caller.tenant, collectionId: parentId });
  }
}

/** Longest wait for other changes of this process, milliseconds. */
const waitMs = 10_000;

async function move({ service }: RetrievalRequest, moving: Parameters<typeof moveCollection>[1]) {
  const release = await service.creations.acquire(AbortSignal.timeout(waitMs));
  try {
    return await moveCollection(service, moving);
  } finally {
    release();
  }
}
