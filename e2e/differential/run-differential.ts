import { createRandom } from '../streaming/random.ts';
import { compareEngines, type Difference } from './compare-engines.ts';
import { eachAlone, type MadePattern, makePattern, oddKinds, rowNames } from './make-pattern.ts';
import { makeTexts } from './make-texts.ts';
import { type MatchRequest, type MatchResult, openReference } from './reference.ts';
import { shrinkDifference } from './shrink-difference.ts';

type DifferentialRun = {
  readonly python: string;
  /**
   * Number of pairs of a text and a pattern that both engines accept, in one case mode; the run ends at this number.
   */
  readonly pairs: number;
  readonly seed: number;
  readonly say: (progress: string) => void;
};

type DifferentialReport = {
  readonly pairs: number;
  /** Pairs whose pattern matches in the text. */
  readonly matching: number;
  /** Number of patterns, each in one case mode, that the reference accepts, and that it refuses. */
  readonly accepted: number;
  readonly refused: number;
  /** Number of syntax rows, and of the rows for which no accepted pattern matched a text. */
  readonly rows: number;
  readonly unmatchedRows: readonly string[];
  readonly differences: number;
  /** The first differences, reduced to the shortest pattern and text. */
  readonly shortest: readonly Difference[];
};

type Asked = MatchRequest & { readonly rows: readonly string[] };

const patternsPerBatch = 100;
const textsPerPattern = 10;
const shown = 20;

/** Runs google-re2 and the engine of the runtime on generated patterns and texts, and compares all results. */
export async function runDifferential({ python, pairs, seed, say }: DifferentialRun): Promise<DifferentialReport> {
  await using reference = openReference(python);
  const report = { pairs: 0, matching: 0, accepted: 0, refused: 0 };
  const matchedRows = new Set<string>();
  const differences: Difference[] = [];

  function judge(asked: Asked, verdict: MatchResult): void {
    if (verdict.accepted) report.accepted += 1;
    else report.refused += 1;
    report.pairs += verdict.spans.length;
    const matching = verdict.spans.filter((spans) => spans.length > 0).length;
    report.matching += matching;
    if (matching > 0) for (const row of asked.rows) matchedRows.add(row);
    differences.push(...compareEngines(asked, verdict));
  }

  let batch = firstBatch(seed);
  let answers = reference.ask(batch);
  for (let number = 1; report.pairs < pairs; number += 1) {
    const nextBatch = makeBatch(seed + number);
    const nextAnswers = reference.ask(nextBatch);
    const verdicts = await answers;
    for (const [index, asked] of batch.entries()) judge(asked, verdicts[index] ?? { accepted: false, spans: [] });
    if (number % 20 === 0) say(`${report.pairs} pairs, ${differences.length} differences`);
    batch = nextBatch;
    answers = nextAnswers;
  }
  await answers;
  const shortest = new Map<string, Difference>();
  for (const difference of differences.slice(0, shown)) {
    const small = await shrinkDifference(difference, reference);
    shortest.set(JSON.stringify([small.pattern, small.text, small.caseSensitive]), small);
  }
  return {
    ...report,
    rows: rowNames.length + oddKinds.length,
    unmatchedRows: rowNames.filter((name) => !matchedRows.has(name)),
    differences: differences.length,
    shortest: [...shortest.values()],
  };
}

function firstBatch(seed: number): readonly Asked[] {
  const random = createRandom(seed);
  return eachAlone(random).flatMap((made) => inBothCases(made, makeTexts(made, textsPerPattern, random)));
}

function makeBatch(seed: number): readonly Asked[] {
  const random = createRandom(seed * 1_000_003);
  return Array.from({ length: patternsPerBatch }, () => {
    const made = makePattern(random);
    return inBothCases(made, makeTexts(made, textsPerPattern, random));
  }).flat();
}

function inBothCases({ source, rows }: MadePattern, texts: readonly string[]): readonly Asked[] {
  return [true, false].map((caseSensitive) => ({ pattern: source.toWellFormed(), caseSensitive, texts, rows }));
}
