import { BestRows } from './best-rows.ts';
import { occurrencesOf, type PartitionRows, rowOf, type VisibleRows } from './partition-rows.ts';
import type { Turns } from './turns.ts';

/** How soon further occurrences of a term add less. */
const k1 = 1.2;
/** How much the length of an entry counts. */
const b = 0.75;

type RankedRow = { readonly row: number; readonly score: number };

/**
 * The rows with the best BM25 scores of a query, best first: per term ln(1 + (N - n + .5) / (n + .5)) times
 * f (k1 + 1) / (f + k1 (1 - b + b length / mean length)). N, n and the mean length are those of the visible rows, so
 * that a score tells nothing of other entries. A term that is asked twice counts twice.
 */
export async function rankByTerms(
  partition: PartitionRows,
  visible: VisibleRows,
  query: { readonly terms: readonly string[]; readonly window: number },
  turns: Turns,
): Promise<readonly RankedRow[]> {
  if (visible.count === 0) return [];
  const scores = new Float64Array(visible.flags.length);
  const meanLength = visible.terms / visible.count;
  for (const [term, times] of countTerms(query.terms)) {
    addScores(partition, visible, { postings: partition.postings.get(term) ?? [], times, meanLength }, scores);
    if (turns.isOver()) await turns.next();
  }
  const best = new BestRows(query.window, (row, other) => (partition.ids[row] ?? '') < (partition.ids[other] ?? ''));
  for (let row = 0; row < scores.length; row += 1) {
    const score = scores[row] as number;
    if (score > 0) best.offer(row, score);
  }
  return best.sorted();
}

function addScores(
  { lengths }: PartitionRows,
  { flags, count }: VisibleRows,
  term: { readonly postings: readonly number[]; readonly times: number; readonly meanLength: number },
  scores: Float64Array,
): void {
  let found = 0;
  for (const packed of term.postings) if (flags[rowOf(packed)] === 1) found += 1;
  if (found === 0) return;
  const weight = term.times * Math.log(1 + (count - found + 0.5) / (found + 0.5)) * (k1 + 1);
  const fixed = k1 * (1 - b);
  const perTerm = (k1 * b) / term.meanLength;
  for (const packed of term.postings) {
    const row = rowOf(packed);
    if (flags[row] !== 1) continue;
    const occurrences = occurrencesOf(packed);
    const length = lengths[row] as number;
    scores[row] = (scores[row] as number) + (weight * occurrences) / (occurrences + fixed + perTerm * length);
  }
}

function countTerms(terms: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}
