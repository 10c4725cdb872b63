import type { Span } from './span.ts';

/** A list of terms as a policy writes it. No term is empty; no Unicode normalisation is done. */
export type TermList = { readonly terms: readonly string[]; readonly caseSensitive: boolean };

/**
 * A compiled list of terms. Both calls expect valid UTF-8, take time linear in the text (whatever text and list are)
 * and never fail.
 */
export type TermMatcher = {
  /** Whether any term occurs. */
  test(bytes: Buffer): boolean;
  /** The leftmost-longest occurrences from left to right, never overlapping, at most `limit`. */
  matches(bytes: Buffer, limit: number): Span[];
};

/**
 * Goes through a text from its end to its beginning and calls `found` with the longest occurrence at each place that has
 * one, until `found` returns true.
 */
export type BackwardScan = (bytes: Buffer, found: (start: number, end: number) => boolean) => void;

/** A matcher out of a scan. */
export function matcherOf(scan: BackwardScan): TermMatcher {
  return {
    test(bytes) {
      let any = false;
      scan(bytes, () => {
        any = true;
        return true;
      });
      return any;
    },
    matches(bytes, limit) {
      const places: Span[] = [];
      scan(bytes, (start, end) => {
        places.push({ start, end });
        return false;
      });
      return leftmostLongest(places, limit);
    },
  };
}

/** Leftmost-longest, never overlapping spans out of the longest one at each place, given from the last to the first. */
function leftmostLongest(places: readonly Span[], limit: number): Span[] {
  const spans: Span[] = [];
  let free = 0;
  for (let at = places.length - 1; at >= 0 && spans.length < limit; at -= 1) {
    const place = places[at];
    if (place === undefined || place.start < free) continue;
    spans.push(place);
    free = place.end;
  }
  return spans;
}
