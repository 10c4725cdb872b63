import type { Turns } from '#kit/concurrency/turns';
import { BestRows } from '../../best-rows.ts';
import type { Candidate } from '../../ports.ts';
import type { PackedSegment, Postings } from './packed-segment.ts';
import { rowsOfSegment, vectorLevels } from './segment-layout.ts';
import type { VisibleSegments } from './segment-set.ts';

/** Saturation: how much less each further occurrence of a term adds. */
const k1 = 1.2;
/** How much the length of an entry influences its score. */
const b = 0.75;

/**
 * The entries with the best BM25 scores, best first: per term ln(1 + (N - n + .5) / (n + .5)) times f (k1 + 1) / (f +
 * k1 (1 - b + b length / mean length)), with N, n and the mean length of the visible rows. A term that occurs twice in
 * the query counts twice.
 */
export async function rankSegmentsByTerms(
  { segments, count, terms }: VisibleSegments,
  query: { readonly terms: readonly string[]; readonly window: number },
  turns: Turns,
): Promise<readonly Candidate[]> {
  if (count === 0) return [];
  const meanLength = terms / count;
  const scores = segments.map(({ flags }) => new Float64Array(flags.length));
  for (const [term, times] of Map.groupBy(query.terms, (one) => one)) {
    const hits = segments.map(({ segment, flags }) => visibleHits(segment.postings(term), flags));
    const found = hits.reduce((sum, { length }) => sum + length, 0);
    const weight = times.length * Math.log(1 + (count - found + 0.5) / (found + 0.5));
    for (const [at, { segment }] of segments.entries()) {
      addScores(hits[at] as Postings, segment.lengths, { weight, meanLength }, scores[at] as Float64Array);
    }
    if (turns.isOver()) await turns.next();
  }
  const best = bestOf(segments, query.window);
  for (const [at, own] of scores.entries()) {
    for (let row = 0; row < own.length; row += 1) {
      const score = own[row] as number;
      if (score > 0) best.offer(at * rowsOfSegment + row, score);
    }
  }
  return candidatesOf(segments, best);
}

function visibleHits(postings: Postings, flags: Uint8Array): Postings {
  const hits = new Uint16Array(postings.length);
  let found = 0;
  for (const packed of postings) {
    if (flags[packed >>> 5] !== 1) continue;
    hits[found] = packed;
    found += 1;
  }
  return hits.subarray(0, found);
}

function addScores(
  hits: Postings,
  lengths: Uint32Array,
  { weight, meanLength }: { readonly weight: number; readonly meanLength: number },
  scores: Float64Array,
): void {
  const fixed = k1 * (1 - b);
  const perTerm = (k1 * b) / meanLength;
  for (const packed of hits) {
    const row = packed >>> 5;
    const occurrences = packed & 31;
    const saturated = (occurrences * (k1 + 1)) / (occurrences + fixed + perTerm * (lengths[row] as number));
    scores[row] = (scores[row] as number) + weight * saturated;
  }
}

/**
 * Number of levels of a component of the query: with 8 bits of the other factor, a sum over all components stays below
 * 2 ** 31.
 */
const queryLevels = (dimensions: number): number =>
  Math.min(32_767, Math.floor((2 ** 31 - 1) / (vectorLevels * dimensions)));

/** The entries whose vectors have the largest dot products with the query's, best first; every vector is read. */
export async function rankSegmentsByVector(
  { segments }: VisibleSegments,
  query: { readonly vector: Float32Array; readonly window: number },
  turns: Turns,
): Promise<readonly Candidate[]> {
  let most = 0;
  for (const component of query.vector) most = Math.max(most, Math.abs(component));
  const scale = most === 0 ? 1 : most / queryLevels(query.vector.length);
  const levels = Int32Array.from(query.vector, (component) => Math.round(component / scale));
  const best = bestOf(segments, query.window);
  for (const [at, { segment, flags }] of segments.entries()) {
    if (segment.dimensions === 0) continue;
    if (segment.dimensions !== levels.length) {
      throw new Error(`the query vector has ${levels.length} dimensions, the index ${segment.dimensions}`);
    }
    for (let from = 0; from < flags.length; from += rowsOfSlice) {
      const to = Math.min(from + rowsOfSlice, flags.length);
      for (let row = from; row < to; row += 1) {
        const own = segment.scales[row] as number;
        if (flags[row] === 0 || Number.isNaN(own)) continue;
        best.offer(at * rowsOfSegment + row, own * scale * product(levels, segment.vectors, row * levels.length));
      }
      if (turns.isOver()) await turns.next();
    }
  }
  return candidatesOf(segments, best);
}

/** Rows between two checks of the clock. */
const rowsOfSlice = 512;

function product(levels: Int32Array, vectors: Int8Array, start: number): number {
  const { length } = levels;
  let sum = 0;
  for (let at = 0; at < length; at += 1) {
    sum = (sum + Math.imul(levels[at] as number, vectors[start + at] as number)) | 0;
  }
  return sum;
}

type Named = readonly { readonly segment: PackedSegment }[];

const idOf = (segments: Named, row: number): string =>
  (segments[Math.floor(row / rowsOfSegment)] as Named[number]).segment.id(row % rowsOfSegment);

function bestOf(segments: Named, window: number): BestRows {
  return new BestRows(window, (row, other) => idOf(segments, row) < idOf(segments, other));
}

function candidatesOf(segments: Named, best: BestRows): readonly Candidate[] {
  return best.sorted().map(({ row, score }) => ({ id: idOf(segments, row), score }));
}
