import { failure } from '#api/operation';
import { collectionObject } from '#relations/tenant-object';
import { owns } from '../access/permissions.ts';
import { findNamed } from './find-readable.ts';
import type { RetrievalError, RetrievalRequest } from './retrieval.ts';

/** The object of relations of the collection that the path names, if the calling user owns it now. */
export async function findOwned(
  request: RetrievalRequest,
): Promise<{ readonly kind: 'owned'; readonly object: string } | RetrievalError> {
  const found = await findNamed(request, request.path('collection_id'));
  if (found.kind === 'error') return found;
  const { service, caller } = request;
  if (!(await owns(service.relations, caller, found.collection))) return failure('forbidden');
  return { kind: 'owned', object: collectionObject(caller.tenant, found.collection.collectionId) };
}
