import type { FigureSize } from '../support/figure.ts';
import { type LoopReport, measureLoopDelay } from './loop-delay.ts';
import { bundleAt, largestTimeoutMs, patternPolicy, timedSection } from './policies.ts';
import { findSlowest, type Slowest } from './slowest.ts';
import { bodyOf } from './texts.ts';

/** No section needs more to keep a process busy. */
const mostRules = 25;

export type SetReport = {
  readonly maxBodyBytes: number;
  readonly timeoutMs: number;
  readonly rules: number;
  readonly slowest: Slowest;
  readonly loop: LoopReport;
  /** Medians over the rounds, milliseconds: how late the loop was, and what of that the process computed. */
  readonly p99: number;
  readonly computedP99: number;
};

/**
 * The slowest set of rules that is admitted for a time-out: the slowest pattern as often as the deadline allows, because
 * one text is the worst for all of them. Served and asked with that text.
 */
export async function judgeSlowestSet(
  size: FigureSize,
  { maxBodyBytes, timeoutMs }: { readonly maxBodyBytes: number; readonly timeoutMs: number },
  say: (line: string) => void,
): Promise<SetReport> {
  const budgetMs = Math.min(timeoutMs / 4, 25);
  const slowest = findSlowest(size, { maxBodyBytes, budgetMs }, say);
  const { deadlineMs } = timedSection([], timeoutMs);
  const rules = Math.min(mostRules, Math.floor(deadlineMs / 2 / slowest.costMs));
  const bundle = bundleAt([patternPolicy('slowest', Array(rules).fill(slowest), timeoutMs)], maxBodyBytes);
  const length =
    size === 'full'
      ? { rounds: 7, roundMs: timeoutMs === largestTimeoutMs ? 4_000 : 2_000 }
      : { rounds: 3, roundMs: 800 };
  const loop = await measureLoopDelay(bundle, bodyOf(slowest.text), length);
  return {
    maxBodyBytes,
    timeoutMs,
    rules,
    slowest,
    loop,
    p99: median(loop.rounds.map((round) => round.p99)),
    computedP99: median(loop.rounds.map((round) => round.computedP99)),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.POSITIVE_INFINITY;
}
