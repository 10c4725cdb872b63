import { activityLimits, type DecisionRecord } from '#contracts/activity';

/** The newest decisions of this replica, in memory only (docs/decisions/0026). */
export type ActivityLog = {
  add(record: DecisionRecord): void;
  /** The newest ones first. */
  newest(): readonly DecisionRecord[];
};

/** Passes have a ring of their own, so that they do not displace the denied, masked and failed requests. */
export function createActivityLog(): ActivityLog {
  const decided = createRing(activityLimits.decided);
  const passed = createRing(activityLimits.passed);
  let count = 0;
  return {
    add(record) {
      const ring = record.outcome === 'passed' ? passed : decided;
      ring.add({ record, number: count });
      count += 1;
    },
    newest: () =>
      [...decided.entries, ...passed.entries].sort((a, b) => b.number - a.number).map(({ record }) => record),
  };
}

type Numbered = { readonly record: DecisionRecord; readonly number: number };

/** Replaces its oldest entry once it is full. */
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
