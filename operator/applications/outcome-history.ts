import type { ApplicationRecord } from '#resources/model-binding';

/** Outcomes of applications, the newest first. */
export type OutcomeHistory = readonly ApplicationRecord[];

/** The number of outcomes that `status.applications` keeps. */
export const historySize = 5;

/**
 * Whether the application of this generation was confirmed by every ready replica. It stays true: a later report of a
 * replica does not reopen it.
 */
export function isApplied(history: OutcomeHistory, generationId: string): boolean {
  return history.some((record) => record.generationId === generationId && record.outcome === 'Applied');
}

/** Whether this generation has an outcome already. */
export function hasOutcome(history: OutcomeHistory, generationId: string): boolean {
  return history.some((record) => record.generationId === generationId);
}

/**
 * Whether the application of a failed record is retried only with another token or content. An application that failed
 * before its route was written because a dependency is missing is retried when that appears (decisions 0014 and 0029).
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
 * Adds an outcome. The oldest is dropped, except two: the one that records that the pinned generation was applied, without
 * which an old application would count as unconfirmed again, and the one of the revision that was applied before, to which
 * a rollback returns after any number of applications of the present one.
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

/** The newest applied revision other than that of the newest application that was applied. An unbind has no revision. */
function appliedBefore(history: OutcomeHistory): ApplicationRecord | undefined {
  const [newest, ...others] = history.filter(({ outcome }) => outcome === 'Applied');
  return others.find(
    ({ policyId, policyRevision }) =>
      policyId !== undefined && (policyId !== newest?.policyId || policyRevision !== newest.policyRevision),
  );
}
