import { openSet } from '../../runtime/rules/pattern/engine.ts';
import { printPattern } from '../../runtime/rules/pattern/print-pattern.ts';
import { REFUSED_PATTERNS, type SlowPattern } from '../../runtime/rules/pattern/testdata/refused-patterns.ts';
import { prepare } from '../../runtime/rules/pattern/testing/prepare-pattern.ts';
import { medianCpuMs } from './cpu-time.ts';
import { problemsOf } from './judge-process.ts';
import { bundleAt, exampleTimeoutMs, largestTimeoutMs, patternPolicy } from './policies.ts';
import { shuffled } from './texts.ts';

const maxBodyBytes = 32_768;
/** What a rule with the time-out of the example may take: a refused one is slower than that. */
const slowMs = exampleTimeoutMs / 4;

export type RefusedReport = {
  readonly patterns: number;
  /** Patterns that were admitted, or were not slow: there should be none. */
  readonly wrong: readonly string[];
};

/** Every pattern of the list is refused with both time-outs, and the engine really is slow on it. */
export async function judgeRefused(
  { patterns: count, texts }: { readonly patterns: number; readonly texts: number },
  say: (line: string) => void,
): Promise<RefusedReport> {
  const patterns = REFUSED_PATTERNS.slice(0, count);
  const wrong: string[] = [];
  for (const timeoutMs of [exampleTimeoutMs, largestTimeoutMs]) {
    const policies = patterns.map((pattern, at) => patternPolicy(`p${at}`, [pattern], timeoutMs));
    const problems = await problemsOf(bundleAt(policies, maxBodyBytes));
    for (const [at, { pattern }] of patterns.entries()) {
      const problem = problems.find((sentence) => sentence.startsWith(`policy p${at}, request section, rule rule-0: `));
      if (problem === undefined) wrong.push(`${pattern} is admitted with timeoutMs ${timeoutMs}`);
      if (problem !== undefined)
        say(`timeoutMs ${timeoutMs}, ${pattern}: ${problem.slice(problem.indexOf('rule-0: ') + 8)}`);
    }
  }
  for (const pattern of patterns) {
    const { set, alone } = engineMs(pattern, texts);
    say(`${pattern.pattern} took ${set.toFixed(0)} ms in a set, ${alone.toFixed(0)} ms by itself`);
    if (Math.max(set, alone) <= slowMs) wrong.push(`${pattern.pattern} is refused and not slow`);
  }
  return { patterns: patterns.length, wrong };
}

/** The engine as it is, each text new to it: medians over so many texts. */
function engineMs(
  { pattern, caseSensitive, parts }: SlowPattern,
  count: number,
): { readonly set: number; readonly alone: number } {
  const texts = Array.from({ length: count }, (_, seed) => Buffer.from(shuffled(parts, seed + 1, maxBodyBytes)));
  const { tree, engine } = prepare(pattern, caseSensitive);
  const set = openSet([printPattern(tree.node)]);
  if ('refused' in set) throw new Error(`the engine refuses ${pattern}`);
  const textOf = (run: number): Buffer => texts[run] ?? Buffer.alloc(0);
  return {
    set: medianCpuMs(texts.length, (run) => set.firing(textOf(run))),
    alone: medianCpuMs(texts.length, (run) => engine.find(textOf(run), 0)),
  };
}
