import type { FigureSize } from '../support/figure.ts';
import { type LoopReport, measureLoopDelay } from './loop-delay.ts';
import { bundleAt, patternPolicy, timedSection } from './policies.ts';
import { findSlowest, type SlowestSearch } from './slowest.ts';
import { bodyOf } from './texts.ts';

/** Enough rules to keep a process busy. */
const mostRules = 25;
/** Duration of the checks of one measurement in milliseconds. */
const lengths: Readonly<Record<FigureSize, number>> = { full: 3_000, small: 350 };

export type SetReport = {
  readonly maxBodyBytes: number;
  readonly timeoutMs: number;
  readonly rules: number;
  readonly search: SlowestSearch;
  readonly loop: LoopReport;
  /** The p99 of the event-loop delay in milliseconds: the median of the rounds; in the small size the lowest. */
  readonly p99: number;
};

/**
 * Serves the slowest set of rules that is admitted for a timeout and checks the slowest text: the set has the slowest
 * pattern as often as the deadline allows, because one text is the worst case for all copies.
 */
export async function judgeSlowestSet(
  size: FigureSize,
  { maxBodyBytes, timeoutMs }: { readonly maxBodyBytes: number; readonly timeoutMs: number },
  say: (line: string) => void,
): Promise<SetReport> {
  const budgetMs = Math.min(timeoutMs / 4, 25);
  const search = findSlowest(size, { maxBodyBytes, budgetMs }, say);
  const { slowest } = search;
  const { deadlineMs } = timedSection([], timeoutMs);
  const rules = Math.min(mostRules, Math.floor(deadlineMs / 2 / slowest.costMs));
  const bundle = bundleAt([patternPolicy('slowest', Array(rules).fill(slowest), timeoutMs)], maxBodyBytes);
  const rounds = { rounds: 7, roundMs: lengths[size] };
  const loop = await measureLoopDelay(bundle, bodyOf(slowest.text), rounds);
  const sorted = loop.rounds.map((round) => round.p99).toSorted((one, other) => one - other);
  // At the small size, other tests run at the same time and would increase the measured time.
  const p99 = sorted[size === 'full' ? sorted.length >> 1 : 0] ?? Number.POSITIVE_INFINITY;
  return { maxBodyBytes, timeoutMs, rules, search, loop, p99 };
}
