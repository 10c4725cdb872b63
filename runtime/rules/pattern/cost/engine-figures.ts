/**
 * The cost of the engine's basic steps, in nanoseconds: named numbers, so that an estimate is the same on every machine
 * and in every run. Each value is above the medians of `testing/measure-engine.ts` (npm re2 1.27.1, Node 24, AMD EPYC
 * at about 2.5 GHz); `testing/measure-worst.ts` compares the estimated costs with measured times of texts that are
 * constructed to be slow. A slower machine needs larger budgets, not different figures.
 */

/**
 * Nanoseconds to move one byte of text through an existing transition, by the size of the automaton in bytes: 1.3 was
 * measured while the automaton fits into the first cache, 3.2 (6.6 on a busy machine) at 200 KiB. The search for
 * necessary bytes takes 0.2 at most.
 */
export function stepNs(memoryBytes: number): number {
  if (memoryBytes <= 64 * 1024) return 2;
  return memoryBytes <= 512 * 1024 ? 4 : 6;
}
/** Nanoseconds to examine one byte of text for places to probe: measured 1 to 1.5. */
export const SCAN_STEP_NS = 2;
/**
 * Nanoseconds to build one transition, and for each byte range of its source state: measured 190 with 6 ranges, 390
 * with 14.
 */
export const BUILD_NS = 150;
export const BUILD_RANGE_NS = 30;
/**
 * Nanoseconds of a call that searches a set, or that lists one more match, without the bytes that it reads: measured
 * 1,200.
 */
export const SEARCH_CALL_NS = 2_000;
/** Nanoseconds of a call that tests one position for a match, without the bytes that it reads: measured 90 to 110. */
export const PROBE_CALL_NS = 150;
/**
 * Nanoseconds to advance one byte in a search for places to probe, without the examined bytes: measured 3 to 5 together
 * with them.
 */
export const SCAN_NS = 4;
/**
 * Nanoseconds for one byte of text in a term list (compile-literals.ts, compile-tokens.ts), occurrences included:
 * measured 1 to 2 in texts without terms, 5 to 10 in texts that consist of terms, 12 to 30 for terms of one letter.
 */
export const TERM_BYTE_NS = 40;
/** Nanoseconds to fold one byte of text (fold-text.ts): measured 1 to 6, and 8 in text that is mostly white space. */
export const FOLD_BYTE_NS = 16;
/** Nanoseconds to test the check digits of one match at all of its ends (number-end.ts): measured 60 to 450. */
export const CHECKSUM_NS = 800;
/** Nanoseconds for one byte of a match in which the ends are searched (probe-plan.ts, endsWithin): measured 1 to 2. */
export const END_BYTE_NS = 4;
/** Nanoseconds for one byte of text in a term list with stems (stem-text.ts), without stemming: measured 20 to 60. */
export const STEM_BYTE_NS = 220;
/** Nanoseconds to stem one word, without its bytes: measured 2,100 (Russian) to 6,000 (English). */
export const STEM_WORD_NS = 8_000;
/** The fewest bytes of a word that is stemmed, with the byte that ends it. */
export const BYTES_OF_STEMMED_WORD = 4;
/** Nanoseconds per byte of a match of which the mask keeps some characters (mask-text.ts): measured 5 to 20. */
export const KEEP_BYTE_NS = 40;
