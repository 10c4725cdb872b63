import type { PolicyDetail, PolicySummary } from '#contracts/management';
import type { Definition } from '#contracts/policy';
import { createdAnnotation } from '#resources/kinds';
import type { Metadata, Stored } from '#resources/metadata';
import type { PolicyRevision, PolicyRevisionSpec } from '#resources/policy-revision';

/** A recorded revision without what may be large. */
export type KnownRevision = Omit<PolicyRevisionSpec, 'definition' | 'tests'> & {
  readonly objectName: string;
  /** RFC 3339. */
  readonly recordedAt: string;
};

/** When an object was made; a restored one says so itself. */
export function madeAt({ annotations, creationTimestamp }: Metadata): string {
  const text = annotations?.[createdAnnotation] ?? creationTimestamp ?? '';
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString();
}

export function knownRevision({ metadata, spec }: Stored<PolicyRevision>): KnownRevision {
  const { definition: _large, tests: _many, ...rest } = spec;
  return { ...rest, objectName: metadata.name, recordedAt: madeAt(metadata) };
}

/** A policy as the list shows it: its newest revision, and when it was made. */
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

/** One revision as it is listed; it never changes, so it was updated when it was made. */
export function revisionSummary(revision: KnownRevision): PolicySummary {
  return policySummary(revision, revision.recordedAt);
}

/** One whole revision. */
export function revisionDetail(revision: Stored<PolicyRevision>): PolicyDetail {
  const known = knownRevision(revision);
  return policyDetail(known, known.recordedAt, JSON.parse(revision.spec.definition) as Definition);
}
