import { success } from '#api/operation';
import { createCursors, readLimit } from '#api/pages';
import { managementLimits } from '#contracts/management';
import { createdAt } from '../caches/known-revision.ts';
import { isShown } from '../caches/management-caches.ts';
import { policySummary } from '../policies/policy-view.ts';
import type { ManagementRequest, ManagementResponse } from './management.ts';

export const policyCursors = createCursors('guardrail-policies/v1');

/**
 * A page of policies from the cache, the newest first. A walk visits each policy that existed at its start once, also
 * while policies are created.
 */
export function listPolicies({ service, query }: ManagementRequest): ManagementResponse {
  const { caches } = service;
  const { limit, cursor: after } = query;
  const { ids, more } = caches.order.page(after, readLimit(limit, managementLimits.pageSize) ?? 0);
  const items = ids.flatMap((id) => {
    const policy = caches.policies.by('id', id).find(isShown);
    const newest = caches.revisions(id)[0];
    return policy === undefined || newest === undefined ? [] : [policySummary(newest, createdAt(policy.metadata))];
  });
  const last = ids.at(-1);
  return success({ items, nextCursor: more && last !== undefined ? policyCursors.write(last) : null });
}
