import type { Turns } from '#kit/concurrency/turns';
import { BestRows } from '../../best-rows.ts';
import { hashTerm } from '../../packed/hash-term.ts';
import { occurrencesOf, rowOf } from '../../packed/occurrence.ts';
import type { PartitionRows, VisibleRows } from './partition-rows.ts';

/** Saturation: how much less each further occurrence of a term adds. */
const k1 = 1.2;
/** How much the length of an entry influences its score. */
const b = 0.75;

type RankedRow = { readonly row: number; readonly score: number };

/**
 * The rows with the best BM25 scores of a query, best first: per term ln(1 + (N - n + .5) / (n + .5)) times f (k1 + 1)
 * / (f + k1 (1 - b + b length / mean length)). N, n and the mean length are computed from the visible rows, so that a
 * score reveals nothing about other entries. A term that occurs twice in the query counts twice.
 */
export async function rankByTerms(
  partition: PartitionRows,
  visible: VisibleRows,
  query: { readonly terms: readonly string[]; readonly window: number },
  turns: Turns,
): Promise<readonly RankedRow[]> {
  if (visible.count === 0) return [];
  const scores = new Float64Array(visible.flags.length);
  const hits = new Uint32Array(visible.flags.length);
  const meanLength = visible.terms / visible.count;
  for (const [term, times] of countTerms(query.terms)) {
    const found = gatherHits(partition.postings.find(hashTerm(term)), visible.flags, hits);
    const rarity = Math.log(1 + (visible.count - found + 0.5) / (found + 0.5));
    addScores(hits.subarray(0, found), partition.lengths, { weight: times * rarity, meanLength }, scores);
    if (turns.isOver()) await turns.next();
  }
  const best = new BestRows(query.window, (row, other) => (partition.ids[row] ?? '') < (partition.ids[other] ?? ''));
  for (let row = 0; row < scores.length; row += 1) {
    const score = scores[row] as number;
    if (score > 0) best.offer(row, score);
  }
  return best.sorted();
}

/** Copies the occurrences in visible rows and returns their number. Rows that arrived since have no flag. */
function gatherHits(postings: Uint32Array, flags: Uint8Array, hits: Uint32Array): number {
  let found = 0;
  for (const packed of postings) {
    if (flags[rowOf(packed)] !== 1) continue;
    hits[found] = packed;
    found += 1;
  }
  return found;
}

function addScores(
  hits: Uint32Array,
  lengths: readonly number[],
  { weight, meanLength }: { readonly weight: number; readonly meanLength: number },
  scores: Float64Array,
): void {
  const fixed = k1 * (1 - b);
  const perTerm = (k1 * b) / meanLength;
  for (const packed of hits) {
    const row = rowOf(packed);
    const occurrences = occurrencesOf(packed);
    const saturated = (occurrences * (k1 + 1)) / (occurrences + fixed + perTerm * (lengths[row] as number));
    scores[row] = (scores[row] as number) + weight * saturated;
  }
}

function countTerms(terms: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}
