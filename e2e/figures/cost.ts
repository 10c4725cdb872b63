import { judgeAdmitted, judgesAlike, publishedBundle } from '../cost/admitted.ts';
import { judgeGapGroups } from '../cost/gap-groups.ts';
import { bundleAt, exampleTimeoutMs, largestTimeoutMs, patternPolicy } from '../cost/policies.ts';
import { judgeRefused } from '../cost/refused.ts';
import { judgeOptions, type OptionReport } from '../cost/rule-options.ts';
import { judgeSlowestSet, type SetReport } from '../cost/slowest-set.ts';
import type { Figure, FigureSize } from '../support/figure.ts';

/** Admission allows a pass whose estimate is a quarter of a timeout, so an estimate may be wrong by this factor. */
const safetyFactor = 4;

type Say = (line: string) => void;

const sizes = {
  full: {
    texts: 9,
    judgements: 5,
    sets: [
      { maxBodyBytes: 32_768, timeoutMs: exampleTimeoutMs },
      { maxBodyBytes: 131_072, timeoutMs: exampleTimeoutMs },
      { maxBodyBytes: 32_768, timeoutMs: largestTimeoutMs },
    ],
  },
  small: { texts: 1, judgements: 2, sets: [{ maxBodyBytes: 32_768, timeoutMs: exampleTimeoutMs }] },
} as const;

export const figure: Figure = {
  name: 'cost',
  title:
    'rules that are admitted by their estimated worst case: the time that they take, and the event-loop delay of the slowest',
  run: async (size, say) => {
    const refused = await judgeRefused({ all: size === 'full', texts: sizes[size].texts }, say);
    for (const sentence of refused.wrong) say(`WRONG: ${sentence}`);
    const gaps = await judgeGapGroups(sizes[size].texts);
    const gapLine =
      `40 rules with a gap: ${gaps.oneSet.toFixed(0)} ms as one set, admitted in ${gaps.groups} groups that take ` +
      `${gaps.together.toFixed(1)} ms together, ${gaps.slowest.toFixed(1)} ms the slowest`;
    say(gapLine);
    for (const problem of gaps.problems) say(problem);
    const admitted = await judgeAdmitted(size, say);
    for (const problem of admitted.problems) say(problem);
    const alike = await judgesAlike(bundlesToRepeat(size), sizes[size].judgements);
    const options = judgeOptions(size, say);
    const sets = await judgeSets(size, say);
    const late = sets.filter(({ p99, timeoutMs }) => p99 >= timeoutMs);
    const underestimated = sets.filter(({ search }) => search.largestRatio >= safetyFactor);
    const slowOptions = options.filter(({ largestRatio }) => largestRatio >= safetyFactor);
    const holds =
      refused.wrong.length === 0 &&
      gaps.problems.length === 0 &&
      gaps.oneSet > gaps.slowest &&
      admitted.problems.length === 0 &&
      alike &&
      late.length === 0 &&
      underestimated.length === 0 &&
      slowOptions.length === 0;
    const but = refused.admitted.length === 0 ? '' : `, but for ${refused.admitted.join(' and ')}`;
    const line =
      `${refused.patterns} slow patterns refused with timeoutMs 20 and 5000, in rules that deny and that mask${but}; ${gapLine}; ${admitted.rules} rules of ` +
      `${admitted.policies} policies admitted; ${alike ? 'the same' : 'NOT the same'} bytes from ${sizes[size].judgements} ` +
      `processes; ${sets.map(described).join('; ')}; measured to estimated time of rules with ${options.map(describedOption).join(', ')}`;
    return { holds, line };
  },
};

/** Bundles that must be refused, and in the full size also the published example. */
function bundlesToRepeat(size: FigureSize) {
  const costly = ['[b-z].{10,50}x1y', 'a.{50}b.{50}c', 'key.{0,59}x1y'].map((pattern) => ({
    pattern,
    caseSensitive: true,
  }));
  const refused = bundleAt([patternPolicy('costly', costly, exampleTimeoutMs)], 32_768);
  return size === 'full' ? [refused, publishedBundle(size)] : [refused];
}

async function judgeSets(size: FigureSize, say: Say): Promise<readonly SetReport[]> {
  const reports: SetReport[] = [];
  for (const bound of sizes[size].sets) {
    say(`the slowest that is admitted with timeoutMs ${bound.timeoutMs} at maxBodyBytes ${bound.maxBodyBytes}:`);
    const report = await judgeSlowestSet(size, bound, say);
    const { idle, rounds } = report.loop;
    say(`  the loop at rest: p99 ${idle.p99.toFixed(1)} ms, at most ${idle.max.toFixed(1)} ms`);
    for (const { p50, p99, max, answers } of rounds) {
      const said = Object.entries(answers).map(([what, count]) => `${count} ${what}`);
      say(
        `  with checks: p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, at most ${max.toFixed(1)} ms; ${said.join(', ')}`,
      );
    }
    reports.push(report);
  }
  return reports;
}

function describedOption({ option, rules, largestRatio }: OptionReport): string {
  return `${option} at most ${largestRatio.toFixed(2)} (${rules} rules)`;
}

function described({ maxBodyBytes, timeoutMs, rules, search, p99 }: SetReport): string {
  const { slowest, largestRatio, ofPattern } = search;
  return (
    `${rules} times ${slowest.pattern}, the slowest for timeoutMs ${timeoutMs} at ${maxBodyBytes} bytes (estimated ` +
    `${slowest.costMs.toFixed(1)}, took ${slowest.tookMs.toFixed(1)} ms): event-loop delay p99 ${p99.toFixed(1)} ms; ` +
    `the largest ratio of measured to estimated time is ${largestRatio.toFixed(2)}, of ${ofPattern}`
  );
}
