import type { OverviewModel } from '#contracts/overview';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { ManagementCaches } from '../caches/management-caches.ts';

/**
 * The revision that `portcullis rollback` would apply: a revision whose text was purged is skipped. Null if there is no
 * such revision, or if its policy is archived or under deletion, so that the API would refuse it.
 */
export function previousApplication(
  { spec, status }: Pick<Stored<ModelBinding>, 'spec' | 'status'>,
  caches: Pick<ManagementCaches, 'policies' | 'revisions'>,
): OverviewModel['previous'] {
  const wanted = spec.guardrail.mode === 'Policy' ? spec.guardrail.policyRef : undefined;
  for (const { outcome, policyId, policyRevision: revision } of status?.applications ?? []) {
    if (outcome !== 'Applied' || policyId === undefined || revision === undefined) continue;
    const policy = caches.policies.by('id', policyId)[0];
    const name = policy?.metadata.name;
    if (policy === undefined || name === undefined || (name === wanted?.name && revision === wanted.revision)) continue;
    const recorded = caches.revisions(policyId).find(({ number }) => number === revision);
    if (recorded?.purgeTime !== undefined) continue;
    const isRefused = policy.spec.lifecycle === 'Archived' || policy.metadata.deletionTimestamp !== undefined;
    return isRefused ? null : { policyId, policy: name, revision };
  }
  return null;
}
