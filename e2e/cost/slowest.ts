import { firingCostMs, setAutomaton, spansCostMs } from '../../runtime/rules/pattern/cost/pattern-cost.ts';
import { ADMITTED_PATTERNS } from '../../runtime/rules/pattern/testdata/admitted-patterns.ts';
import { prepare } from '../../runtime/rules/pattern/testing/prepare-pattern.ts';
import type { FigureSize } from '../support/figure.ts';
import { fastestMs } from './fastest.ts';
import { examplePolicies } from './policies.ts';
import { repeated, walks } from './texts.ts';

/** A candidate pattern for admission, and texts that may be its worst case. */
type Candidate = {
  readonly pattern: string;
  readonly caseSensitive: boolean;
  readonly masks: boolean;
  readonly units: readonly string[];
};

/** An admitted pattern, and the text for which the engine takes longest. */
type Slowest = {
  readonly pattern: string;
  readonly caseSensitive: boolean;
  /** The estimate of admission and the measured time of the engine; milliseconds. */
  readonly costMs: number;
  readonly tookMs: number;
  readonly text: string;
};

/** The slowest admitted pattern, and the largest ratio of measured time to estimate among the measured patterns. */
export type SlowestSearch = {
  readonly slowest: Slowest;
  /** Measured time divided by the estimate; a value above 1 means that the estimate was too low. */
  readonly largestRatio: number;
  readonly ofPattern: string;
};

type SearchBound = { readonly maxBodyBytes: number; readonly budgetMs: number };

/**
 * The kinds of patterns that include the slowest patterns; the small size searches only these, without random walks.
 */
const slowForms = 2;

/**
 * Pattern templates with a repetition count that is raised to the admission limit, and units of their worst-case text.
 */
const forms: readonly { readonly form: (count: number) => string; readonly units: readonly string[] }[] = [
  { form: (count) => `\\bM[A-Za-z0-9_-]{${count}}\\.`, units: ['M-', 'M-M-a'] },
  { form: (count) => `жу[а-яё ]{0,${count}}x1y`, units: ['жу', 'жу '] },
  ...['ab', 'abc'].map((key) => ({
    form: (count: number) => `${key}.{0,${count}}x1y`,
    units: [key, `${key}x`, `${key}€`, `${key.repeat(3)}x1`],
  })),
  { form: (count) => `(?:ab|cd|ef).{0,${count}}x1y`, units: ['ab', 'abcdef'] },
  { form: (count) => `ab[a-z]{0,${count}}>`, units: ['ab', 'abz'] },
  { form: (count) => `\\b(?:\\d[ -]?){${count}}x`, units: ['1 ', '1-'] },
  { form: (count) => `\\bab\\b.{0,${count}}\\bx1y\\b`, units: ['ab ', 'ab x1 '] },
  { form: (count) => `(?i)sk.{0,${count}}x1y`, units: ['sk', 'sK'] },
];
const largestCount = 900;
/** Patterns whose estimate is below this share of the budget are not measured. */
const worthTiming = 0.5;

/**
 * Finds the admitted pattern that takes the engine the longest time, among generated patterns and, in the full size,
 * all published ones.
 */
export function findSlowest(size: FigureSize, bound: SearchBound, say: (line: string) => void): SlowestSearch {
  const candidates =
    size === 'full' ? [...generated(forms, bound), ...published()] : generated(forms.slice(0, slowForms), bound);
  const restarts = size === 'full' ? [0, 8] : [];
  const found = candidates.flatMap((candidate) => timed(candidate, restarts, bound) ?? []);
  found.sort((one, other) => other.tookMs - one.tookMs);
  for (const { pattern, costMs, tookMs } of found.slice(0, 5)) {
    say(`  ${pattern}: estimated ${costMs.toFixed(2)} ms, took ${tookMs.toFixed(2)} ms`);
  }
  const [slowest] = found;
  const [furthest] = found.toSorted((one, other) => other.tookMs / other.costMs - one.tookMs / one.costMs);
  if (slowest === undefined || furthest === undefined) throw new Error('nothing is admitted');
  return { slowest, largestRatio: furthest.tookMs / furthest.costMs, ofPattern: furthest.pattern };
}

function generated(searched: typeof forms, bound: SearchBound): readonly Candidate[] {
  return searched.flatMap(({ form, units }) => {
    const admits = (count: number): boolean => costOf(candidateOf(form(count), units), bound) <= bound.budgetMs;
    if (!admits(1)) return [];
    let [low, high] = [1, largestCount];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (admits(middle)) low = middle;
      else high = middle - 1;
    }
    return [candidateOf(form(low), units)];
  });
}

function candidateOf(pattern: string, units: readonly string[]): Candidate {
  return { pattern, caseSensitive: true, masks: false, units };
}

function published(): readonly Candidate[] {
  const rules = ['guarded-chat', 'rule-pack']
    .flatMap(examplePolicies)
    .flatMap(({ definition: { request, response } }) => [...request.baseline, ...response.baseline])
    .flatMap((rule) => (rule.kind === 'regex' ? [{ ...rule.regex, masks: rule.action.type === 'mask' }] : []));
  const distinct = new Map(
    [...rules, ...ADMITTED_PATTERNS].map((rule) => [`${rule.caseSensitive}${rule.pattern}`, rule]),
  );
  return [...distinct.values()].map(({ pattern, caseSensitive, masks }) => ({
    pattern,
    caseSensitive,
    masks,
    units: [],
  }));
}

function costOf({ pattern, caseSensitive, masks }: Candidate, { maxBodyBytes }: SearchBound): number {
  const { analysis } = prepare(pattern, caseSensitive);
  return Math.max(firingCostMs([analysis], maxBodyBytes), masks ? spansCostMs(analysis, maxBodyBytes, 257) : 0);
}

/**
 * The slower of matching and listing matches on the worst text; undefined when the pattern is not admitted or far below
 * the limit.
 */
function timed(candidate: Candidate, restarts: readonly number[], bound: SearchBound): Slowest | undefined {
  const costMs = costOf(candidate, bound);
  if (costMs > bound.budgetMs || costMs < worthTiming * bound.budgetMs) return undefined;
  const { pattern, caseSensitive, masks, units } = candidate;
  const compiled = prepare(pattern, caseSensitive);
  const { firing } = compiled.analysis;
  const automaton = firing.figures().plan === 'probe' ? firing.probe()?.automaton : setAutomaton([compiled.analysis]);
  const texts = [
    ...units.map((unit) => repeated(unit, bound.maxBodyBytes)),
    ...(automaton === undefined ? [] : walks(automaton, restarts, bound.maxBodyBytes)),
  ];
  if (masks) compiled.buildAhead();
  compiled.test(Buffer.from('x'));
  const slowest = texts
    .map((text) => {
      const bytes = Buffer.from(text);
      const fires = fastestMs(3, () => compiled.test(bytes));
      return {
        text,
        tookMs: masks
          ? Math.max(
              fires,
              fastestMs(3, () => compiled.matches(bytes, 257)),
            )
          : fires,
      };
    })
    .sort((one, other) => other.tookMs - one.tookMs)[0];
  return slowest && { pattern, caseSensitive, costMs, ...slowest };
}
