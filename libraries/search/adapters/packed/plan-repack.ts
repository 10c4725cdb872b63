import type { PackedSegment } from './packed-segment.ts';

/** A stored segment with its number and the rows that ended after it was packed. */
export type OpenedSegment = {
  readonly number: number;
  readonly segment: PackedSegment;
  readonly ended: readonly number[];
};

type Repack = {
  /** Numbers of the segments that are replaced. */
  readonly replaced: readonly number[];
  /** Groups of the replaced segments that have not changed: their entries are packed again. */
  readonly groups: readonly string[];
  /**
   * In segments that stay: the complete list of ended rows of each segment in which a row ended now, by segment number.
   */
  readonly ended: ReadonlyMap<number, readonly number[]>;
};

/** Segments with fewer live rows are packed again together with later changes, so that a partition has few segments. */
export const smallSegment = 1_024;

/** Decides which stored segments are packed again after changes of groups, and which rows end in the other segments. */
export function planRepack(stored: readonly OpenedSegment[], changed: readonly string[]): Repack {
  const replaced: number[] = [];
  const groups = new Set<string>();
  const endedRows = new Map<number, readonly number[]>();
  for (const { number, segment, ended } of stored) {
    const all = new Set(ended);
    for (const group of changed) {
      const [from, to] = segment.rowsOfGroup(group);
      for (let row = from; row < to; row += 1) all.add(row);
    }
    if (segment.rows - all.size < smallSegment) {
      replaced.push(number);
      for (let row = 0; row < segment.rows; row += 1) if (!all.has(row)) groups.add(segment.group(row));
    } else if (all.size > ended.length) endedRows.set(number, [...all]);
  }
  return { replaced, groups: [...groups], ended: endedRows };
}
