import type { Span } from './span.ts';

/** A list of terms as a policy writes it. No term is empty; no Unicode normalisation is done. */
export type TermList = { readonly terms: readonly string[]; readonly caseSensitive: boolean };

/**
 * A compiled list of terms. Both calls expect valid UTF-8, take time linear in the text (whatever text and list are)
 * and never fail.
 */
export type TermMatcher = {
  /** Whether any term occurs. */
  test(bytes: Uint8Array): boolean;
  /** The leftmost-longest occurrences from left to right, never overlapping, at most `limit`. */
  matches(bytes: Uint8Array, limit: number): Span[];
};

/**
 * Chooses leftmost-longest, never overlapping spans out of the longest occurrence at each place. `starts` and `ends`
 * run from the end of the text to its beginning.
 */
export function leftmostLongest(starts: readonly number[], ends: readonly number[], limit: number): Span[] {
  const spans: Span[] = [];
  let free = 0;
  for (let at = starts.length - 1; at >= 0 && spans.length < limit; at -= 1) {
    const start = starts[at] ?? 0;
    const end = ends[at] ?? 0;
    if (start < free) continue;
    spans.push({ start, end });
    free = end;
  }
  return spans;
}
