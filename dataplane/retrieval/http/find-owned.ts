import { failure } from '#api/operation';
import { collectionObject } from '#relations/tenant-object';
import { owns } from '../access/permissions.ts';
import { findNamed } from './find-readable.ts';
import type { RetrievalError, RetrievalRequest } from './retrieval.ts';

type FoundOwned = {
  readonly kind: 'owned';
  readonly object: string;
  /** Whether the calling user owns the collection at the time of the call. */
  readonly isPermitted: () => Promise<boolean>;
};

/** The object of relations of the collection that the path names, if the calling user owns it now. */
export async function findOwned(request: RetrievalRequest): Promise<FoundOwned | RetrievalError> {
  const found = await findNamed(request, request.path('collection_id'));
  if (found.kind === 'error') return found;
  const { service, caller } = request;
  const isPermitted = () => owns(service.relations, caller, found.collection);
  if (!(await isPermitted())) return failure('forbidden');
  return { kind: 'owned', object: collectionObject(caller.tenant, found.collection.collectionId), isPermitted };
}
