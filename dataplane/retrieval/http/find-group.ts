import { failure } from '#api/operation';
import { groupObject } from '#relations/tenant-object';
import { administers } from '../access/grants.ts';
import type { RetrievalError, RetrievalRequest } from './retrieval.ts';

/** The object of the group that the path names, if the calling user administers the installation now. */
export async function findGroup(
  request: RetrievalRequest,
): Promise<{ readonly kind: 'group'; readonly object: string } | RetrievalError> {
  const { service, caller } = request;
  if (!(await administers(service.relations, caller))) return failure('forbidden');
  return { kind: 'group', object: groupObject(caller.tenant, request.path('group')) };
}
