import { findPolicy } from '../policies/find-policy.ts';
import { revisionSummary } from '../policies/policy-view.ts';
import type { Exchange } from './exchange.ts';
import { readLimit } from './page-query.ts';
import { readPathId, readRevisionNumber } from './path-ids.ts';
import { ok, type Reply, refuse } from './reply.ts';

/**
 * GET /api/v1/guardrail-policies/{policyId}/revisions: newest first, beforeRevision excluded. The history of a policy
 * that was deleted can be read too.
 */
export async function listRevisions({ management, path, query }: Exchange): Promise<Reply> {
  const policyId = readPathId(path['policyId']);
  if (policyId === undefined) return refuse('invalid_path_id');
  const limit = readLimit(query.get('limit') ?? undefined);
  const given = query.get('beforeRevision');
  const before = given === null ? Number.POSITIVE_INFINITY : readRevisionNumber(given);
  if (limit === undefined || before === undefined) return refuse('invalid_query');
  const { client, caches } = management;
  const revisions = caches.revisions(policyId);
  if (revisions.length === 0 && (await findPolicy(client, caches, policyId)) === undefined) {
    return refuse('policy_not_found');
  }
  const start = revisions.findIndex((revision) => revision.number < before);
  const page = start < 0 ? [] : revisions.slice(start, start + limit);
  const last = page.at(-1);
  const more = last !== undefined && revisions.length > start + limit;
  return ok({ items: page.map(revisionSummary), nextBeforeRevision: more ? last.number : null });
}
