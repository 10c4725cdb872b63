import type { ByteRange } from '../checked-text.ts';
import type { TermMatcher } from './term-list.ts';

/** Whether a match is inside of an allowed text, so that it does not count. */
export type IsAllowed = (start: number, end: number) => boolean;

/** Looks up matches in the places where allowed texts occur. Linear in the text, then logarithmic for each match. */
export function allowedPlaces(allowed: TermMatcher, bytes: Buffer): IsAllowed {
  const places = furthest(allowed.occurrences(bytes));
  const count = places.length / 2;
  return (start, end) => {
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((places[2 * middle] ?? 0) <= start) low = middle + 1;
      else high = middle;
    }
    return low > 0 && (places[2 * low - 1] ?? 0) >= end;
  };
}

/** The places, each with the furthest end of all that begin before it. */
function furthest(places: Int32Array): Int32Array {
  for (let at = 3; at < places.length; at += 2) places[at] = Math.max(places[at] ?? 0, places[at - 2] ?? 0);
  return places;
}

/** The matcher without the matches inside of allowed texts. */
export function exceptAllowed(terms: TermMatcher, allowed: TermMatcher): TermMatcher {
  return {
    test: (bytes) => findUncovered({ terms, allowed, bytes }, 1).length > 0,
    occurrences: (bytes) => uncovered(terms.occurrences(bytes), allowed, bytes),
    matches: (bytes, limit) => findUncovered({ terms, allowed, bytes }, limit),
  };
}

type Search = { readonly terms: TermMatcher; readonly allowed: TermMatcher; readonly bytes: Buffer };

/** The result of `matches`, computed from the occurrences that no allowed text covers. */
function findUncovered({ terms, allowed, bytes }: Search, limit: number): ByteRange[] {
  const chosen: ByteRange[] = [];
  const found = terms.occurrences(bytes);
  if (found.length === 0) return chosen;
  const isAllowed = allowedPlaces(allowed, bytes);
  let free = 0;
  for (let at = 0; at < found.length && chosen.length < limit; at += 2) {
    const start = found[at] ?? 0;
    const end = found[at + 1] ?? 0;
    if (start < free || isAllowed(start, end)) continue;
    chosen.push({ start, end });
    free = end;
  }
  return chosen;
}

function uncovered(found: Int32Array, allowed: TermMatcher, bytes: Buffer): Int32Array {
  if (found.length === 0) return found;
  const isAllowed = allowedPlaces(allowed, bytes);
  return found.filter((_, at) => !isAllowed(found[at & ~1] ?? 0, found[at | 1] ?? 0));
}
