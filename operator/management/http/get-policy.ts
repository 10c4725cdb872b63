import type { PolicyDetail } from '#contracts/management';
import type { Definition } from '#contracts/policy';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { etagOf } from '../etag.ts';
import { findPolicy } from '../policies/find-policy.ts';
import { knownRevision, madeAt, policyDetail } from '../policies/policy-view.ts';
import type { Exchange } from './exchange.ts';
import { readPathId } from './path-ids.ts';
import { ok, type Reply, refuse } from './reply.ts';

/**
 * GET /api/v1/guardrail-policies/{policyId}: the latest version, from a live read. An accepted generation that has no
 * revision is recorded first, so that body, revision and ETag belong together (DESIGN section 5).
 */
export async function getPolicy({ management, path }: Exchange): Promise<Reply> {
  const policyId = readPathId(path['policyId']);
  if (policyId === undefined) return refuse('invalid_path_id');
  const { client, caches, recorder } = management;
  const policy = await findPolicy(client, caches, policyId);
  if (policy === undefined) return refuse('policy_not_found');
  const { uid, generation } = policy.metadata;
  const etag = etagOf({ type: 'policy', id: policyId, uid, generation });
  const record = await recorder.record(policyId, policy);
  if (record.kind === 'recorded') {
    // A revision may stand for a generation of another object with the same content: the definition is the same.
    const detail = policyDetail(record.revision, madeAt(policy.metadata), policy.spec.definition);
    return ok(detail, { etag });
  }
  const detail = await newestRecorded(management, policyId, policy);
  return detail === undefined
    ? refuse(record.kind === 'pending' ? 'revision_pending' : 'policy_not_found')
    : ok(detail, { etag });
}

/** While the live generation is no revision, the newest one is shown with the live ETag, so that a PUT can heal it. */
async function newestRecorded(
  { client, caches }: Exchange['management'],
  policyId: string,
  policy: Stored<GuardrailPolicy>,
): Promise<PolicyDetail | undefined> {
  const newest = caches.revisions(policyId)[0];
  if (newest === undefined) return undefined;
  const revision = await client.get<PolicyRevision>(kinds.policyRevision, newest.objectName);
  if (revision === undefined) return undefined;
  const definition = JSON.parse(revision.spec.definition) as Definition;
  return policyDetail(knownRevision(revision), madeAt(policy.metadata), definition);
}
