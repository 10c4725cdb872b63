/**
 * A set of code points as ascending, disjoint, non-touching ranges: `[low, high, low, high, …]`, with both ends
 * included.
 */
export type RuneSet = readonly number[];

/** The highest code point of Unicode. */
export const MAX_RUNE = 0x10ffff;

/** Every code point, surrogates included, as RE2 sees it. */
export const ANY_RUNE: RuneSet = [0, MAX_RUNE];

/** The set of the given `[low, high, …]` pairs, which may overlap and be in any order. */
export function runeSet(pairs: readonly number[]): RuneSet {
  const ranges: [number, number][] = [];
  for (let at = 0; at + 1 < pairs.length; at += 2) ranges.push([pairs[at] ?? 0, pairs[at + 1] ?? 0]);
  ranges.sort((a, b) => a[0] - b[0]);
  const set: number[] = [];
  for (const [low, high] of ranges) {
    const last = set.length - 1;
    const end = set[last];
    if (end === undefined || low > end + 1) set.push(low, high);
    else if (high > end) set[last] = high;
  }
  return set;
}

/** All code points that are not in the set. */
export function complement(set: RuneSet): RuneSet {
  const out: number[] = [];
  let next = 0;
  for (let at = 0; at < set.length; at += 2) {
    const low = set[at] ?? 0;
    if (low > next) out.push(next, low - 1);
    next = (set[at + 1] ?? 0) + 1;
  }
  if (next <= MAX_RUNE) out.push(next, MAX_RUNE);
  return out;
}

/** Whether the code point is in the set; uses a binary search. */
export function contains(set: RuneSet, rune: number): boolean {
  let low = 0;
  let high = set.length >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rune > (set[2 * middle + 1] ?? 0)) low = middle + 1;
    else high = middle;
  }
  return rune >= (set[2 * low] ?? Number.POSITIVE_INFINITY);
}

/** How many bytes of UTF-8 a code point takes; surrogates count as 3 bytes, as RE2 encodes them. */
export function utf8Length(rune: number): number {
  if (rune < 0x80) return 1;
  if (rune < 0x800) return 2;
  return rune < 0x10000 ? 3 : 4;
}
