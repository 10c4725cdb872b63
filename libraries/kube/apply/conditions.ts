import type { Condition } from '#resources/metadata';

/** A condition without its time, which `setCondition` sets. */
export type ConditionChange = Omit<Condition, 'lastTransitionTime'>;

/**
 * Sets one condition in a list and keeps the order. `lastTransitionTime` changes only with `status`. Returns the same
 * list when nothing changed, so that the caller can skip the write.
 */
export function setCondition(
  list: readonly Condition[] | undefined,
  change: ConditionChange,
  now: Date,
): readonly Condition[] {
  const conditions = list ?? [];
  const at = conditions.findIndex((condition) => condition.type === change.type);
  const previous = conditions[at];
  if (previous !== undefined && isSame(previous, change)) return conditions;
  const kept = previous !== undefined && previous.status === change.status ? previous.lastTransitionTime : undefined;
  const next: Condition = {
    type: change.type,
    status: change.status,
    observedGeneration: change.observedGeneration,
    lastTransitionTime: kept ?? transitionTime(now),
    reason: change.reason,
    message: change.message,
  };
  return at < 0 ? [...conditions, next] : conditions.with(at, next);
}

/** The condition of one type; undefined if the list does not have it. */
export function findCondition(list: readonly Condition[] | undefined, type: string): Condition | undefined {
  return list?.find((condition) => condition.type === type);
}

function isSame(previous: Condition, change: ConditionChange): boolean {
  return (
    previous.status === change.status &&
    previous.reason === change.reason &&
    previous.message === change.message &&
    previous.observedGeneration === change.observedGeneration
  );
}

/** RFC 3339 in whole seconds, the precision of meta/v1 Time. */
function transitionTime(now: Date): string {
  return now.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
