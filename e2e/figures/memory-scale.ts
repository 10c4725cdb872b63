import { missingPostgres } from '#sql/testing/test-server';
import { measureScale, type ScaleRole, type ScaleSize } from '../memory-scale/measure-scale.ts';
import type { Figure } from '../support/figure.ts';

const sizes: Readonly<Record<'small' | 'full', ScaleSize>> = {
  small: { dimension: 64, memories: 1_000, equals: 5, others: 50, memoriesOfOther: 100, small: 4_000, queries: 300 },
  full: {
    dimension: 384,
    memories: 10_000,
    equals: 40,
    others: 600,
    memoriesOfOther: 1_000,
    small: 50_000,
    queries: 10_000,
  },
};
/** The roles of a pod that answers searches: with workers of their own, and without, as the chart runs it by default. */
const roles: readonly ScaleRole[] = ['api', 'both'];
/** 500 MB in MiB. */
const residentMib = 500e6 / 1_048_576;
/**
 * Upper bounds: cold and warm 95th percentile; resident memory. The small size checks rights and memory only, because
 * it has too few searches for a percentile.
 */
const most = { coldMs: 100, warmTimes: 3, residentMib } as const;

export const figure: Figure = {
  name: 'memory-scale',
  title:
    'random searches of one person with 10,000 memories among 1,000,000 of others and 50,000 persons with few: 0 ' +
    'foreign ones; the first search, further ones beside a store of this person alone, and resident memory',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const results: { readonly holds: boolean; readonly line: string }[] = [];
    for (const role of roles) results.push(resultOf(size, role, await measureScale(sizes[size], role, say)));
    return { holds: results.every(({ holds }) => holds), line: results.map(({ line }) => line).join('; ') };
  },
};

function resultOf(size: 'small' | 'full', role: ScaleRole, found: Awaited<ReturnType<typeof measureScale>>) {
  const times = found.warm.p95 / found.alone.p95;
  const budgetedTimes = found.budgeted.p95 / found.alone.p95;
  const isQuick =
    size === 'small' || (found.cold.p95 <= most.coldMs && times <= most.warmTimes && budgetedTimes <= most.warmTimes);
  return {
    holds: found.foreign + found.wrong === 0 && found.found > 0 && found.residentMost <= most.residentMib && isQuick,
    line:
      `role ${role}: ${found.queries} searches found ${found.found} memories, ${found.foreign} foreign ones; of ` +
      `${sizes[size].small} persons with at most 5 memories each, ${found.wrong} found others than theirs; first search ` +
      `p50/p95 ${found.cold.p50.toFixed(0)}/${found.cold.p95.toFixed(0)} ms (at most ${most.coldMs}), further ones ` +
      `${found.warm.p50.toFixed(1)}/${found.warm.p95.toFixed(1)} ms, ${times.toFixed(2)} times that of the person alone ` +
      `(at most ${most.warmTimes}), with a token budget of 100 ${found.budgeted.p50.toFixed(1)}/` +
      `${found.budgeted.p95.toFixed(1)} ms, ${budgetedTimes.toFixed(2)} times; resident ${found.residentAtStart.toFixed(0)} MiB at the start, at most ` +
      `${found.residentMost.toFixed(0)} MiB (bound ${most.residentMib.toFixed(0)})`,
  };
}
