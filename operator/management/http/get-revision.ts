import { kinds } from '#resources/kinds';
import type { PolicyRevision } from '#resources/policy-revision';
import { findPolicy } from '../policies/find-policy.ts';
import { revisionDetail } from '../policies/policy-view.ts';
import type { Exchange } from './exchange.ts';
import { readPathId, readRevisionNumber } from './path-ids.ts';
import { ok, type Reply, refuse } from './reply.ts';

/** GET /api/v1/guardrail-policies/{policyId}/revisions/{revision}: one immutable revision, from a live read. */
export async function getRevision({ management, path }: Exchange): Promise<Reply> {
  const policyId = readPathId(path['policyId']);
  const number = readRevisionNumber(path['revision']);
  if (policyId === undefined || number === undefined) return refuse('invalid_path_id');
  const { client, caches } = management;
  const revision = await client.get<PolicyRevision>(kinds.policyRevision, `${policyId}-${number}`);
  if (revision !== undefined) return ok(revisionDetail(revision));
  const isKnown = caches.revisions(policyId).length > 0 || (await findPolicy(client, caches, policyId)) !== undefined;
  return refuse(isKnown ? 'revision_not_found' : 'policy_not_found');
}
