import type { ReplicaDecision } from './activity.ts';

/** Values that a decision must have; an absent member selects every decision. */
type DecisionFilter = {
  readonly model?: string | undefined;
  readonly client?: string | undefined;
  readonly stage?: string | undefined;
  readonly outcome?: string | undefined;
  readonly rule?: string | undefined;
  readonly requestId?: string | undefined;
  /** Only decisions after this time, RFC 3339 in UTC. */
  readonly since?: string | undefined;
};

const members = ['model', 'client', 'stage', 'outcome', 'rule', 'requestId'] as const;

/** The first decisions that pass the filter, at most `limit`. */
export function selectDecisions(
  items: readonly ReplicaDecision[],
  filter: DecisionFilter,
  limit: number,
): readonly ReplicaDecision[] {
  const { since } = filter;
  const isSelected = (item: ReplicaDecision): boolean =>
    members.every((member) => filter[member] === undefined || filter[member] === item[member]) &&
    (since === undefined || Date.parse(item.time) > Date.parse(since));
  return items.filter(isSelected).slice(0, limit);
}
