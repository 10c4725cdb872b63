import type { ByteRange } from '../checked-text.ts';
import type { TermMatcher } from './term-list.ts';

/** Whether a match lies inside of an allowed text, so that it does not count. */
export type IsAllowed = (match: ByteRange) => boolean;

/** Looks up matches in the places where allowed texts occur. Linear in the text, then logarithmic for each match. */
export function allowedPlaces(allowed: TermMatcher, bytes: Buffer): IsAllowed {
  const places = allowed.occurrences(bytes);
  const starts = Int32Array.from(places, ({ start }) => start);
  const ends = Int32Array.from(places, ({ end }) => end);
  // From here on, `ends` has the furthest end of all places up to that one.
  for (let at = 1; at < ends.length; at += 1) ends[at] = Math.max(ends[at] ?? 0, ends[at - 1] ?? 0);
  return ({ start, end }) => {
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] ?? 0) <= start) low = middle + 1;
      else high = middle;
    }
    return low > 0 && (ends[low - 1] ?? 0) >= end;
  };
}

/** The matcher without the matches inside of allowed texts. */
export function exceptAllowed(terms: TermMatcher, allowed: TermMatcher): TermMatcher {
  const occurrences = (bytes: Buffer): ByteRange[] => {
    const found = terms.occurrences(bytes);
    if (found.length === 0) return found;
    const isAllowed = allowedPlaces(allowed, bytes);
    return found.filter((match) => !isAllowed(match));
  };
  return {
    test: (bytes) => occurrences(bytes).length > 0,
    occurrences,
    matches: (bytes, limit) => {
      const chosen: ByteRange[] = [];
      for (const match of occurrences(bytes)) {
        if (chosen.length === limit) break;
        if (match.start >= (chosen.at(-1)?.end ?? 0)) chosen.push(match);
      }
      return chosen;
    },
  };
}
