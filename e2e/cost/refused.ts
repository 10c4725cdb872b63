import { openSet } from '../../runtime/rules/pattern/engine.ts';
import { printPattern } from '../../runtime/rules/pattern/print-pattern.ts';
import { REFUSED_PATTERNS, type SlowPattern } from '../../runtime/rules/pattern/testdata/refused-patterns.ts';
import { prepare } from '../../runtime/rules/pattern/testing/prepare-pattern.ts';
import { fastestMs } from './fastest.ts';
import { problemsOf } from './judge-process.ts';
import { bundleAt, exampleTimeoutMs, largestTimeoutMs, patternPolicy } from './policies.ts';
import { shuffled } from './texts.ts';

const maxBodyBytes = 32_768;
/** The first of them, whatever else is refused: as they stand in the promise of the platform. */
const named = ['(.{1,100}){1,9}Z', '\\p{L}{100,200}Z', '[b-z].{10,50}x1y'];
const nested: SlowPattern = {
  pattern: '(.{1,100}){1,9}Z',
  caseSensitive: true,
  parts: ['a', 'b', 'c', 'd', 'e', 'я', '€', '😀'],
  measuredMs: { set: 1, alone: 290 },
};
const isNamed = ({ pattern }: SlowPattern): boolean => named.includes(pattern);

/** What a rule with the time-out of the example may take: a refused one is slower than that. */
const slowMs = exampleTimeoutMs / 4;

export type RefusedReport = {
  readonly patterns: number;
  /** Patterns that were admitted, or were not slow: there should be none. */
  readonly wrong: readonly string[];
};

/** Every named pattern, or every known one, is refused with both time-outs, and the engine really is slow on it. */
export async function judgeRefused(
  { all, texts }: { readonly all: boolean; readonly texts: number },
  say: (line: string) => void,
): Promise<RefusedReport> {
  const others = REFUSED_PATTERNS.filter(({ pattern }) => pattern !== nested.pattern);
  const patterns = [nested, ...others].filter((pattern) => all || isNamed(pattern));
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

/** The engine as it is, on the fastest of so many texts: each is new to it. */
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
    set: fastestMs(texts.length, (run) => set.firing(textOf(run))),
    alone: fastestMs(texts.length, (run) => engine.find(textOf(run), 0)),
  };
}
