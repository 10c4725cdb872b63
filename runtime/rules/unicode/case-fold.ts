import tables from './re2-tables.json' with { type: 'json' };
import { MAX_RUNE, type RuneSet, runeSet } from './rune-set.ts';

/** One row of RE2's folding table: the next code point in the folding cycle, for each code point of the range. */
type FoldRange = { readonly low: number; readonly high: number; readonly delta: number | 'EvenOdd' | 'OddEven' };

const ranges: readonly FoldRange[] = tables.folds.split(',').map((row) => {
  const [low = '', high = '', delta = ''] = row.split(' ');
  const shift = delta === 'EvenOdd' || delta === 'OddEven' ? delta : Number(delta);
  return { low: Number(low), high: Number(high), delta: shift };
});

const lastFoldable = ranges.at(-1)?.high ?? 0;
let representatives: Int32Array | undefined;

/** The table row that contains the code point, or the first row after it; undefined if there is none. */
function rangeAt(rune: number): FoldRange | undefined {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rune > (ranges[middle]?.high ?? 0)) low = middle + 1;
    else high = middle;
  }
  return ranges[low];
}

/** The next code point of the folding cycle (K to k to U+212A to K); itself when it has no case. */
function nextFold(rune: number): number {
  const range = rangeAt(rune);
  if (range === undefined || rune < range.low) return rune;
  if (range.delta === 'EvenOdd') return rune % 2 === 0 ? rune + 1 : rune - 1;
  if (range.delta === 'OddEven') return rune % 2 === 1 ? rune + 1 : rune - 1;
  return rune + range.delta;
}

/** All code points that equal this one if case is ignored: simple folding, as in RE2. */
export function foldOrbit(rune: number): readonly number[] {
  const orbit = [rune];
  for (let next = nextFold(rune); next !== rune; next = nextFold(next)) orbit.push(next);
  return orbit;
}

/**
 * For every foldable code point the smallest of its orbit: two code points are equal without case exactly when they
 * have the same entry. A code point at or beyond the end of the table is its own representative.
 */
export function foldRepresentatives(): Int32Array {
  if (representatives !== undefined) return representatives;
  const table = new Int32Array(lastFoldable + 1);
  for (let rune = 0; rune < table.length; rune += 1) table[rune] = rune;
  for (const { low, high } of ranges) {
    for (let rune = low; rune <= high; rune += 1) table[rune] = Math.min(...foldOrbit(rune));
  }
  representatives = table;
  return table;
}

/** The set together with all code points that equal one of its members if case is ignored (RE2's AddFoldedRange). */
export function foldSet(set: RuneSet): RuneSet {
  let pairs: number[] = [...set];
  let folded = runeSet(pairs);
  for (;;) {
    for (let at = 0; at < folded.length; at += 2) addFolds(pairs, folded[at] ?? 0, folded[at + 1] ?? 0);
    const grown = runeSet(pairs);
    if (grown.length === folded.length && grown.every((bound, at) => bound === folded[at])) return folded;
    folded = grown;
    pairs = [...grown];
  }
}

function addFolds(pairs: number[], from: number, to: number): void {
  let low = from;
  while (low <= to && low <= MAX_RUNE) {
    const range = rangeAt(low);
    if (range === undefined) return;
    const start = Math.max(low, range.low);
    const end = Math.min(to, range.high);
    if (start > end) return;
    if (range.delta === 'EvenOdd') pairs.push(start - (start % 2), end + ((end + 1) % 2));
    else if (range.delta === 'OddEven') pairs.push(start - ((start + 1) % 2), end + (end % 2));
    else pairs.push(start + range.delta, end + range.delta);
    low = end + 1;
  }
}
