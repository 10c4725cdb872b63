import type { PolicyDetail, PolicySummary } from '#contracts/management';
import type { Definition } from '#contracts/policy';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { type KnownRevision, knownRevision } from '../caches/known-revision.ts';

/** A policy as the list shows it: its newest revision, and when the policy was created (RFC 3339). */
export function policySummary(newest: KnownRevision, createdAt: string): PolicySummary {
  return {
    id: newest.policyId,
    name: newest.displayName,
    description: newest.description,
    revision: newest.number,
    status: newest.lifecycle === 'Archived' ? 'archived' : 'draft',
    definitionDigest: newest.definitionDigest,
    ruleCount: newest.ruleCount,
    ruleKinds: [...newest.ruleKinds],
    createdAt,
    updatedAt: newest.recordedAt,
  };
}

export function policyDetail(newest: KnownRevision, createdAt: string, definition: Definition): PolicyDetail {
  return { ...policySummary(newest, createdAt), definition };
}

/** An entry of the revision list. A revision never changes, so that both of its dates are equal. */
export function revisionSummary(revision: KnownRevision): PolicySummary {
  return policySummary(revision, revision.recordedAt);
}

export function revisionDetail(revision: Stored<PolicyRevision>): PolicyDetail {
  const known = knownRevision(revision);
  return policyDetail(known, known.recordedAt, JSON.parse(revision.spec.definition) as Definition);
}
