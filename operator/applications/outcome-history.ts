import type { ApplicationRecord } from '#resources/model-binding';

/** The newest first. */
export type OutcomeHistory = readonly ApplicationRecord[];

/** How many outcomes `status.applications` keeps. */
export const historySize = 5;

/**
 * Whether the application of this generation was confirmed by every ready replica. It latches: what a replica says
 * afterwards does not reopen it.
 */
export function isApplied(history: OutcomeHistory, generationId: string): boolean {
  return history.some((record) => record.generationId === generationId && record.outcome === 'Applied');
}

/** Whether this generation has an outcome already. */
export function hasOutcome(history: OutcomeHistory, generationId: string): boolean {
  return history.some((record) => record.generationId === generationId);
}

/**
 * Whether the application of a failed record is not tried again, but by another token or content. What it waited for in
 * vain before a route was written may still appear: it goes on then (decision 0014).
 */
export function isFinal({ reason, generationId }: Pick<ApplicationRecord, 'reason' | 'generationId'>): boolean {
  switch (reason) {
    case 'provider_unknown':
    case 'policy_revision_unknown':
      return false;
    case 'progress_deadline_exceeded':
      return generationId !== undefined;
    default:
      return true;
  }
}

/**
 * Adds an outcome. The oldest leaves, but for the one that says that the pinned generation was applied: without it
 * an application of long ago would seem to be on trial again.
 */
export function addOutcome(
  history: OutcomeHistory,
  record: ApplicationRecord,
  pinned: string | undefined,
): OutcomeHistory {
  const all = [record, ...history];
  while (all.length > historySize) {
    const oldest = all.findLastIndex((entry) => entry.outcome === 'Failed' || entry.generationId !== pinned);
    all.splice(oldest, 1);
  }
  return all;
}
