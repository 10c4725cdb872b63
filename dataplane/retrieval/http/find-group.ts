import { failure } from '#api/operation';
import { groupObject } from '#relations/tenant-object';
import { administers } from '../access/grants.ts';
import type { RetrievalError, RetrievalRequest } from './retrieval.ts';

type FoundGroup = {
  readonly kind: 'group';
  readonly object: string;
  /** Whether the calling user administers the installation at the time of the call. */
  readonly isPermitted: () => Promise<boolean>;
};

/** The object of the group that the path names, if the calling user administers the installation now. */
export async function findGroup(request: RetrievalRequest): Promise<FoundGroup | RetrievalError> {
  const { service, caller } = request;
  const isPermitted = () => administers(service.relations, caller);
  if (!(await isPermitted())) return failure('forbidden');
  return { kind: 'group', object: groupObject(caller.tenant, request.path('group')), isPermitted };
}
