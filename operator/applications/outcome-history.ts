import type { ApplicationRecord } from '#resources/model-binding';

/** Outcomes of applications, the newest first. */
export type OutcomeHistory = readonly ApplicationRecord[];

/** The number of outcomes that `status.applications` keeps. */
export const historySize = 5;

/**
 * Whether every ready replica has confirmed the application of this generation. The result stays true: a later report
 * of a replica does not change it.
 */
export function isApplied(history: OutcomeHistory, generationId: string): boolean {
  return history.some((record) => record.generationId === generationId && record.outcome === 'Applied');
}

/** Whether this generation already has an outcome. */
export function hasOutcome(history: OutcomeHistory, generationId: string): boolean {
  return history.some((record) => record.generationId === generationId);
}

/**
 * Whether the application of a failed record is retried only with another token or content. An application that failed
 * before its route was written because a dependency is missing is also retried when the dependency appears (decisions
 * 0014 and 0029).
 */
export function isFinal({ reason, generationId }: Pick<ApplicationRecord, 'reason' | 'generationId'>): boolean {
  switch (reason) {
    case 'provider_unknown':
    case 'policy_revision_unknown':
    case 'provider_unavailable':
      return false;
    case 'progress_deadline_exceeded':
      return generationId !== undefined;
    default:
      return true;
  }
}

/**
 * Adds an outcome and drops the oldest one. Two outcomes are never dropped: the outcome that records that the pinned
 * generation was applied, without which an old application would count as unconfirmed again; and the outcome of the
 * previously applied revision, to which a rollback returns after any number of applications of the present revision.
 */
export function addOutcome(
  history: OutcomeHistory,
  record: ApplicationRecord,
  pinned: string | undefined,
): OutcomeHistory {
  const all = [record, ...history];
  const before = appliedBefore(all);
  while (all.length > historySize) {
    const oldest = all.findLastIndex(
      (entry) => entry !== before && (entry.outcome === 'Failed' || entry.generationId !== pinned),
    );
    all.splice(oldest, 1);
  }
  return all;
}

/**
 * The newest applied revision that differs from the revision of the newest applied application. An unbind has no
 * revision.
 */
function appliedBefore(history: OutcomeHistory): ApplicationRecord | undefined {
  const [newest, ...others] = history.filter(({ outcome }) => outcome === 'Applied');
  return others.find(
    ({ policyId, policyRevision }) =>
      policyId !== undefined && (policyId !== newest?.policyId || policyRevision !== newest.policyRevision),
  );
}
