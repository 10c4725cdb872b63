import { activityLimits, type DecisionRecord } from '#contracts/activity';
import type { DecisionCount } from '#contracts/decision-counts';
import { createDecisionCounts } from './count-decisions.ts';

/** The newest decisions of this replica, in memory only (docs/decisions/0026). */
export type ActivityLog = {
  add(record: DecisionRecord): void;
  /** The newest records, the newest first. */
  newest(): readonly DecisionRecord[];
  /** The decisions of each of the last minutes by alias, oldest first. */
  counts(): readonly DecisionCount[];
};

/** Passes have their own ring, so that they do not displace the denied, masked and failed requests. */
export function createActivityLog(): ActivityLog {
  const decided = createRing(activityLimits.decided);
  const passed = createRing(activityLimits.passed);
  const counts = createDecisionCounts(Date.now);
  let count = 0;
  return {
    add(record) {
      const ring = record.outcome === 'passed' ? passed : decided;
      ring.add({ record, number: count });
      count += 1;
      counts.add(record);
    },
    newest: () =>
      [...decided.entries, ...passed.entries].sort((a, b) => b.number - a.number).map(({ record }) => record),
    counts: counts.list,
  };
}

type Numbered = { readonly record: DecisionRecord; readonly number: number };

/** A list that replaces its oldest entry when it is full. */
function createRing(most: number) {
  const entries: Numbered[] = [];
  let next = 0;
  return {
    entries: entries as readonly Numbered[],
    add(entry: Numbered): void {
      entries[next] = entry;
      next = (next + 1) % most;
    },
  };
}
