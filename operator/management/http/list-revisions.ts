import { failure, success } from '#api/operation';
import { readLimit } from '#api/pages';
import { managementLimits } from '#contracts/management';
import { findPolicy } from '../policies/find-policy.ts';
import { revisionSummary } from '../policies/policy-view.ts';
import type { ManagementRequest, ManagementResponse } from './management.ts';

/** A page of revisions, the newest first, without `beforeRevision` itself; also of a policy that was deleted. */
export async function listRevisions({ service, path, query }: ManagementRequest): Promise<ManagementResponse> {
  const policyId = path('policyId');
  const { client, caches } = service;
  const limit = readLimit(query['limit'], managementLimits.pageSize) ?? 0;
  const before = Number(query['beforeRevision'] ?? Number.POSITIVE_INFINITY);
  const revisions = caches.revisions(policyId);
  if (revisions.length === 0 && (await findPolicy(client, caches, policyId)) === undefined) {
    return failure('policy_not_found');
  }
  const start = revisions.findIndex((revision) => revision.number < before);
  const page = start < 0 ? [] : revisions.slice(start, start + limit);
  const last = page.at(-1);
  const more = last !== undefined && revisions.length > start + limit;
  return success({ items: page.map(revisionSummary), nextBeforeRevision: more ? last.number : null });
}
