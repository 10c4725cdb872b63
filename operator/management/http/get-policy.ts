import { failure, success } from '#api/operation';
import type { PolicyDetail } from '#contracts/management';
import type { Definition } from '#contracts/policy';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { isPurged } from '#resources/purged-revision';
import { createdAt, knownRevision } from '../caches/known-revision.ts';
import { findPolicy } from '../policies/find-policy.ts';
import { policyDetail } from '../policies/policy-view.ts';
import { etagOf } from './etag.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';

/**
 * The latest version of a policy, from a live read. The answer waits for the revision of the live generation, so that
 * body, revision number and ETag describe the same version. Reading records nothing.
 */
export async function getPolicy({ service, path }: ManagementRequest): Promise<ManagementResponse> {
  const policyId = path('policyId');
  const { client, caches, recorder } = service;
  const policy = await findPolicy(client, caches, policyId);
  if (policy === undefined) return failure('policy_not_found');
  const { uid, generation } = policy.metadata;
  const etag = etagOf({ type: 'policy', id: policyId, uid, generation });
  const record = await recorder.find(policyId, policy);
  if (record.kind === 'recorded') {
    // The revision may have been recorded from another object with the same content: the definition is equal.
    const detail = policyDetail(record.revision, createdAt(policy.metadata), policy.spec.definition);
    return success(detail, { etag });
  }
  const detail = await newestRecorded(service, policyId, policy);
  if (detail !== undefined) return success(detail, { etag });
  return failure(record.kind === 'pending' ? 'revision_pending' : 'policy_not_found');
}

/** The newest revision under the live ETag, so that a PUT can replace a live generation that is not accepted. */
async function newestRecorded(
  { client, caches }: Management,
  policyId: string,
  policy: Stored<GuardrailPolicy>,
): Promise<PolicyDetail | undefined> {
  const newest = caches.revisions(policyId)[0];
  if (newest === undefined) return undefined;
  const revision = await client.get<PolicyRevision>(kinds.policyRevision, newest.objectName);
  if (revision === undefined || isPurged(revision)) return undefined;
  const definition = JSON.parse(revision.spec.definition) as Definition;
  return policyDetail(knownRevision(revision), createdAt(policy.metadata), definition);
}
