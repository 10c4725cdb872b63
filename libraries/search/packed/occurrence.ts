/** Maximum number of counted occurrences of a term in one row; further occurrences add nothing to its score. */
const mostOccurrences = 255;

/** A row and how often a term occurs in it, in 32 bits; memory ends long before the 16 million rows that fit. */
export const packOccurrence = (row: number, occurrences: number): number =>
  ((row << 8) | Math.min(occurrences, mostOccurrences)) >>> 0;
/** The row of a packed occurrence. */
export const rowOf = (packed: number): number => packed >>> 8;
/** How often the term occurs in the row, at most 255. */
export const occurrencesOf = (packed: number): number => packed & mostOccurrences;
