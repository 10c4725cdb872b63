/** Maximum number of rows of a segment: an occurrence of a term is a row of 11 bits and a count of 5 bits. */
export const rowsOfSegment = 2_048;
export const mostOccurrencesPacked = 31;

/** The first bytes of a segment. Another value means another layout, or other attributes of the same entries. */
export const segmentMark = 0x33_53_4b_50;

/** The path under which the labels of entries are stored among their attributes; no attribute begins with U+0000. */
export const labelPath = '\u0000label';

/** Largest magnitude of a packed component of a vector. */
export const vectorLevels = 127;

/**
 * The parts of a segment in their order, each at an offset that its numbers allow (docs/design/memory.md, "Segments"):
 *
 * - `lengths`: u32 per row, the number of terms.
 * - `scales`: f32 per row, the value of a packed component of 1; NaN for a row without a vector.
 * - `groupEnds`: u16 per row, the number of bytes of the name that are the group. The id is the whole name; if
 *   `hasOwnId` (the highest bit) is set, the id is the part after the group.
 * - `names`, `nameOffsets`: the names in UTF-8, sorted by group and id, and u32 offsets of each name and of the end.
 * - `terms`, `termOffsets`: the terms in UTF-8, sorted by bytes, and u32 offsets of each term and of the end.
 * - `postings`, `postingOffsets`: u16 per occurrence, and u32 numbers of the first occurrence of each term and of the
 *   end.
 * - `paths`: JSON, a PackedPath for each attribute.
 * - `values`: JSON, the values of each attribute as a list.
 * - `valueRows`: u16, the rows of each value.
 * - `valueOffsets`: u32, for each value of each attribute the place at which its rows end.
 * - `vectors`: i8, `dimensions` components for each row.
 */
export const segmentParts = [
  'lengths',
  'scales',
  'groupEnds',
  'nameOffsets',
  'names',
  'termOffsets',
  'terms',
  'postingOffsets',
  'postings',
  'paths',
  'values',
  'valueOffsets',
  'valueRows',
  'vectors',
] as const;
export type SegmentPart = (typeof segmentParts)[number];

/** Mark, rows and dimensions, then the end of each part; u32 each. */
export const segmentHeaderNumbers = 3 + segmentParts.length;

export const hasOwnId = 0x8000;

/** The place of the values of one attribute: bytes in `values`, and the place of the first value in `valueOffsets`. */
export type PackedPath = {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly firstValue: number;
};

/** Parts begin at multiples of four bytes. */
export const aligned = (bytes: number): number => (bytes + 3) & ~3;
