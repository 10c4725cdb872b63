import type { DecisionRecord } from '#contracts/activity';
import { countedMinutes, type DecisionCount } from '#contracts/decision-counts';

const minuteMs = 60_000;

/** The decisions of each of the last minutes by alias, in memory only (docs/decisions/0026). */
type DecisionCounts = {
  add(record: Pick<DecisionRecord, 'time' | 'model' | 'outcome'>): void;
  /** The counts of the last minutes, oldest first; minutes without a decision are absent. */
  list(): readonly DecisionCount[];
};

/** @param now milliseconds since the epoch */
export function createDecisionCounts(now: () => number): DecisionCounts {
  // Minutes are inserted in chronological order. Aliases are those of routes, so that their number is bounded.
  const minutes = new Map<number, Map<string, DecisionCount>>();

  function dropOld(): void {
    const oldest = minuteOf(now()) - (countedMinutes - 1) * minuteMs;
    for (const minute of minutes.keys()) if (minute < oldest) minutes.delete(minute);
  }

  return {
    add({ time, model, outcome }) {
      dropOld();
      const minute = minuteOf(Date.parse(time));
      const models = minutes.get(minute) ?? new Map<string, DecisionCount>();
      minutes.set(minute, models);
      const count = models.get(model) ?? noDecisions(minute, model);
      models.set(model, { ...count, [outcome]: count[outcome] + 1 });
    },
    list() {
      dropOld();
      const sorted = [...minutes.entries()].sort(([one], [other]) => one - other);
      return sorted.flatMap(([, models]) => [...models.values()]);
    },
  };
}

function minuteOf(ms: number): number {
  return Math.floor(ms / minuteMs) * minuteMs;
}

function noDecisions(minute: number, model: string): DecisionCount {
  return { time: new Date(minute).toISOString(), model, passed: 0, masked: 0, denied: 0, check_failed: 0 };
}
