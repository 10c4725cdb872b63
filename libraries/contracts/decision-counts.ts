import { z } from 'zod';
import { type DecisionRecord, type MissingReplica, missingReplicaSchema, readReplicaAnswer } from './activity.ts';

/** How many minutes each gateway replica counts, including the current minute. */
export const countedMinutes = 60;

const count = z.int().min(0);

/** How many requests to one alias ended in one minute, by the outcome of their checks. */
const decisionCountSchema = z.strictObject({
  /** The beginning of the minute, RFC 3339 in UTC. */
  time: z.string().max(32),
  model: z.string().max(128),
  passed: count,
  masked: count,
  denied: count,
  check_failed: count,
});
export type DecisionCount = z.infer<typeof decisionCountSchema>;

/** The answer of GET /decision-counts of a gateway. Minutes without a decision are absent. */
const decisionCountsSchema = z.strictObject({ items: z.array(decisionCountSchema) });

/** The counts of all gateway replicas, oldest first. Only decisions of the replicas in `missing` can be absent. */
export const collectedCountsSchema = decisionCountsSchema.extend({ missing: z.array(missingReplicaSchema) });
export type CollectedCounts = z.infer<typeof collectedCountsSchema>;

/** One replica's answer to GET /decision-counts; the status is undefined if the replica did not answer. */
export function readReplicaCounts(
  replica: string,
  answer: { readonly status?: number; readonly value?: unknown },
): CollectedCounts {
  const read = readReplicaAnswer(decisionCountsSchema, answer);
  if (!read.ok) return missingCounts({ replica, reason: read.reason });
  return { items: read.value.items, missing: [] };
}

export function missingCounts(missing: MissingReplica): CollectedCounts {
  return { items: [], missing: [missing] };
}

/** The counts of several replicas, added up for each minute and alias, oldest first. */
export function joinCounts(parts: readonly CollectedCounts[]): CollectedCounts {
  const sums = new Map<string, DecisionCount>();
  for (const one of parts.flatMap(({ items }) => items)) {
    const key = `${one.time} ${one.model}`;
    sums.set(key, addCounts(sums.get(key), one));
  }
  return {
    items: [...sums.entries()].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum),
    missing: parts.flatMap(({ missing }) => missing),
  };
}

function addCounts(sum: DecisionCount | undefined, one: DecisionCount): DecisionCount {
  if (sum === undefined) return one;
  return {
    ...one,
    passed: sum.passed + one.passed,
    masked: sum.masked + one.masked,
    denied: sum.denied + one.denied,
    check_failed: sum.check_failed + one.check_failed,
  };
}

/** The outcomes in the order in which charts and tables show them. */
export const countedOutcomes = [
  'passed',
  'masked',
  'denied',
  'check_failed',
] as const satisfies readonly DecisionRecord['outcome'][];
