import { failure, success } from '#api/operation';
import { maxRevision } from '#contracts/management';
import { kinds } from '#resources/kinds';
import type { PolicyRevision } from '#resources/policy-revision';
import { isPurged } from '#resources/purged-revision';
import { findPolicy } from '../policies/find-policy.ts';
import { revisionDetail } from '../policies/policy-view.ts';
import type { ManagementRequest, ManagementResponse } from './management.ts';

/** Answers GET of one immutable revision, which is read live from the API server. */
export async function getRevision({ service, path }: ManagementRequest): Promise<ManagementResponse> {
  const policyId = path('policyId');
  const number = Number(path('revision'));
  const { client, caches } = service;
  const revision =
    number > maxRevision ? undefined : await client.get<PolicyRevision>(kinds.policyRevision, `${policyId}-${number}`);
  if (revision !== undefined)
    return isPurged(revision) ? failure('revision_purged') : success(revisionDetail(revision));
  const isKnown = caches.revisions(policyId).length > 0 || (await findPolicy(client, caches, policyId)) !== undefined;
  return failure(isKnown ? 'revision_not_found' : 'policy_not_found');
}
