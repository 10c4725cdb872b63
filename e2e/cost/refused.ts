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
/** What a rule with the time-out of the example may take. */
const slowMs = exampleTimeoutMs / 4;

/** Those that are always judged, as they stand in the promise of the platform. */
const named = ['(.{1,100}){1,9}Z', '\\p{L}{100,200}Z', '[b-z].{10,50}x1y'];

const actions = ['deny', 'mask'] as const;
type Action = (typeof actions)[number];

type RefusedReport = {
  readonly patterns: number;
  /** Patterns that are admitted in one of the two kinds of rules, where their question is cheap. */
  readonly admitted: readonly string[];
  /** Refused and not slow, or admitted and not fast: there should be none. */
  readonly wrong: readonly string[];
};

/**
 * Every named pattern, or every known one, with both time-outs, in a rule that denies and in one that masks: refused
 * patterns really are slow, and admitted ones are not.
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

/** Action and pattern of the rules that are refused with both time-outs. */
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

/** The engine as it is, on the fastest of so many texts: each is new to it. */
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

/** What a rule that is admitted takes for its question, on the slowest of so many texts. */
function ruleMs(slow: SlowPattern, action: Action, count: number): number {
  const compiled = prepare(slow.pattern, slow.caseSensitive);
  // What the pattern ends with stands at the end of the text too, so that a match is found as late as can be.
  const last = Array.from(slow.pattern).at(-1) ?? '';
  const texts = textsFor(slow, count)
    .flatMap((text) => [lookedThrough(text, maxBodyBytes), `${text}${last}`])
    .map((text) => Buffer.from(text));
  const ask = (text: Buffer): unknown => (action === 'deny' ? compiled.test(text) : compiled.matches(text, 257));
  ask(Buffer.from('x'));
  return Math.max(...texts.map((text) => fastestMs(5, () => ask(text))));
}
