import { openSet } from '../../runtime/rules/pattern/search/engine.ts';
import { printPattern } from '../../runtime/rules/pattern/syntax/print-pattern.ts';
import { REFUSED_PATTERNS, type SlowPattern } from '../../runtime/rules/pattern/testdata/refused-patterns.ts';
import { prepare } from '../../runtime/rules/pattern/testing/prepare-pattern.ts';
import { masking, policy, quiet, regex, section } from '../../runtime/testing/build-bundle.ts';
import { fastestMs } from './fastest.ts';
import { problemsOf } from './judge-process.ts';
import { bundleAt, exampleTimeoutMs, largestTimeoutMs, timedSection } from './policies.ts';
import { lookedThrough, shuffled } from './texts.ts';

const maxBodyBytes = 32_768;
/** Longest time of a rule with the timeout of the example. */
const slowMs = exampleTimeoutMs / 4;

/** The slow patterns that the small size also checks, as named in the platform's contract. */
const named = ['(.{1,100}){1,9}Z', '\\p{L}{100,200}Z', '[b-z].{10,50}x1y'];

const actions = ['deny', 'mask'] as const;
type Action = (typeof actions)[number];

type RefusedReport = {
  readonly patterns: number;
  /**
   * Patterns that are accepted for deny and refused for mask: they are cheap to match, but finding the positions of
   * matches is not.
   */
  readonly admitted: readonly string[];
  /** Patterns that are refused but fast, or admitted but slow; must be empty. */
  readonly wrong: readonly string[];
};

/**
 * Compares admission with measured times for the named slow patterns, or all known slow patterns, with both timeouts
 * and in deny and mask rules: refused patterns must be slow, and admitted patterns fast.
 */
export async function judgeRefused(
  { all, texts }: { readonly all: boolean; readonly texts: number },
  say: (line: string) => void,
): Promise<RefusedReport> {
  const patterns = REFUSED_PATTERNS.filter(({ pattern }) => all || named.includes(pattern));
  const refusals = await refusalsOf(patterns, say);
  const admitted: string[] = [];
  const wrong: string[] = [];
  for (const pattern of patterns) {
    const { set, alone } = engineMs(pattern, texts);
    say(`${pattern.pattern} took ${set.toFixed(0)} ms in a set, ${alone.toFixed(0)} ms alone`);
    for (const action of actions) {
      if (refusals.has(`${action} ${pattern.pattern}`)) {
        if (Math.max(set, alone) <= slowMs) wrong.push(`${pattern.pattern} is refused and not slow`);
        continue;
      }
      if (named.includes(pattern.pattern)) wrong.push(`${pattern.pattern} is admitted`);
      const took = ruleMs(pattern, action, texts);
      admitted.push(`${pattern.pattern} that ${action === 'deny' ? 'denies' : 'masks'} (${took.toFixed(2)} ms)`);
      if (took > slowMs) wrong.push(`${pattern.pattern} is admitted and takes ${took.toFixed(1)} ms`);
    }
  }
  return { patterns: patterns.length, admitted, wrong };
}

/** Action and pattern of the rules that are refused with both timeouts. */
async function refusalsOf(patterns: readonly SlowPattern[], say: (line: string) => void): Promise<ReadonlySet<string>> {
  const counts = new Map<string, number>();
  for (const timeoutMs of [exampleTimeoutMs, largestTimeoutMs]) {
    const cases = patterns.flatMap((pattern) => actions.map((action) => ({ pattern, action })));
    const policies = cases.map(({ pattern: { pattern, caseSensitive }, action }, at) => {
      const rule = regex('rule', pattern, caseSensitive);
      const timed = timedSection([action === 'deny' ? rule : masking(rule, '#')], timeoutMs);
      return policy(timed, section([quiet]), `p${at}`);
    });
    const problems = await problemsOf(bundleAt(policies, maxBodyBytes));
    for (const [at, { pattern, action }] of cases.entries()) {
      const place = `policy p${at}, request section, rule rule: `;
      const problem = problems.find((sentence) => sentence.startsWith(place));
      if (problem === undefined) continue;
      say(`timeoutMs ${timeoutMs}, ${action}, ${pattern.pattern}: ${problem.slice(place.length)}`);
      const key = `${action} ${pattern.pattern}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return new Set([...counts].filter(([, count]) => count === 2).map(([key]) => key));
}

function textsFor({ parts }: SlowPattern, count: number): readonly string[] {
  return Array.from({ length: count }, (_, seed) => shuffled(parts, seed + 1, maxBodyBytes));
}

/** Time of the engine without admission, on the slowest of several texts that it has not seen before. */
function engineMs(slow: SlowPattern, count: number): { readonly set: number; readonly alone: number } {
  const texts = textsFor(slow, count).map((text) => Buffer.from(text));
  const { tree, engine } = prepare(slow.pattern, slow.caseSensitive);
  const set = openSet([printPattern(tree.node)]);
  if ('refused' in set) throw new Error(`the engine refuses ${slow.pattern}`);
  const textOf = (run: number): Buffer => texts[run] ?? Buffer.alloc(0);
  return {
    set: fastestMs(texts.length, (run) => set.firing(textOf(run))),
    alone: fastestMs(texts.length, (run) => engine.find(textOf(run), 0)),
  };
}

/** Time of an admitted rule for a match test, on the slowest of several texts. */
function ruleMs(slow: SlowPattern, action: Action, count: number): number {
  const compiled = prepare(slow.pattern, slow.caseSensitive);
  // The literal end of the pattern also ends the text, so that a match is found as late as possible.
  const last = Array.from(slow.pattern).at(-1) ?? '';
  const texts = textsFor(slow, count)
    .flatMap((text) => [lookedThrough(text, maxBodyBytes), `${text}${last}`])
    .map((text) => Buffer.from(text));
  const ask = (text: Buffer): unknown => (action === 'deny' ? compiled.test(text) : compiled.matches(text, 257));
  ask(Buffer.from('x'));
  return Math.max(...texts.map((text) => fastestMs(5, () => ask(text))));
}
