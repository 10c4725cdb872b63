import type { Turns } from '#kit/concurrency/turns';
import type { AttributeCondition } from '../../condition.ts';
import type { IndexChange, IndexEntry } from '../../ports.ts';
import { packSegment, packSegmentInTurns } from './pack-segment.ts';
import { PackedSegment } from './packed-segment.ts';
import { rowsOfSegment } from './segment-layout.ts';

/** A segment, and its rows that are still valid. */
type LiveSegment = {
  readonly segment: PackedSegment;
  /** Bytes of the segment and of the objects that belong to it. */
  readonly bytes: number;
  /** One flag for each row: 1 if the row is live. */
  readonly alive: Uint8Array;
  dead: number;
};

/** The rows of one segment that a query may find, as they were when the query began. */
type VisibleSegment = { readonly segment: PackedSegment; readonly flags: Uint8Array };

export type VisibleSegments = {
  readonly segments: readonly VisibleSegment[];
  /** Visible rows of all segments, and the terms of all of them together. */
  readonly count: number;
  readonly terms: number;
};

/** Groups of later changes that are kept unpacked; more of them become a segment. */
const groupsOfTail = 128;

/**
 * The entries of one partition: segments, and later changes, which are packed by the next query. Segments do not
 * change, and a query keeps the segments with which it began.
 */
export class SegmentSet {
  readonly #segments: LiveSegment[] = [];
  /** The entries of the groups that changed last. */
  readonly #tail = new Map<string, readonly IndexEntry[]>();
  #packedTail: LiveSegment[] | undefined;
  #dimensions = 0;

  /** Estimated bytes of the segments in memory. */
  get bytes(): number {
    return this.#all().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Estimated bytes of the unpacked later changes, which stay in addition to their packed form. */
  get tailBytes(): number {
    const entries = [...this.#tail.values()].reduce((sum, group) => sum + group.length, 0);
    return entries * (entryOverhead + 4 * this.#dimensions);
  }

  get dead(): number {
    return this.#segments.reduce((sum, { dead }) => sum + dead, 0);
  }

  get live(): number {
    return this.#all().reduce((sum, { segment, dead }) => sum + segment.rows - dead, 0);
  }

  /** Number of segments that later changes became. */
  sealed = 0;

  /** Dimensions of the vectors; 0 while no entry has a vector. */
  get dimensions(): number {
    return this.#dimensions;
  }

  /** Adds a stored segment without the rows that ended since. */
  addSegment(bytes: Buffer, ended: readonly number[]): void {
    const added = this.#open(bytes);
    for (const row of ended) end(added, row);
    this.#segments.push(added);
  }

  /** Adds new entries, whose ids and groups are not in the set yet, at most as many as a segment holds. */
  async addEntries(entries: readonly IndexEntry[], turns: Turns): Promise<void> {
    if (entries.length > 0) this.#segments.push(this.#open(await packSegmentInTurns(entries, turns)));
  }

  apply(change: IndexChange): void {
    this.#packedTail = undefined;
    const group = change.kind === 'put' ? change.entry.group : change.group;
    const known = this.#tail.get(group) ?? [];
    if (change.kind === 'put') {
      const { entry } = change;
      if (entry.vector !== undefined) this.#checkDimensions(entry.vector.length);
      this.#endRows(group, (id) => id === entry.id);
      this.#tail.set(group, [...known.filter(({ id }) => id !== entry.id), entry]);
    } else {
      const ids = new Set(change.ids);
      this.#endRows(group, (id) => !ids.has(id));
      const left = known.filter(({ id }) => ids.has(id));
      if (left.length === 0) this.#tail.delete(group);
      else this.#tail.set(group, left);
    }
    if (this.#tail.size > groupsOfTail) this.#seal();
  }

  /** The rows with one of the labels that fulfil the condition, at the time of the call. */
  async visible(
    labels: readonly string[] | 'every',
    condition: AttributeCondition | undefined,
    turns: Turns,
  ): Promise<VisibleSegments> {
    const segments = this.#all().map(({ segment, alive }): VisibleSegment => ({ segment, flags: alive.slice() }));
    let count = 0;
    let terms = 0;
    for (const { segment, flags } of segments) {
      if (labels !== 'every') keep(flags, segment.labelled(labels));
      if (condition !== undefined) keep(flags, await segment.select(condition, turns));
      for (let row = 0; row < flags.length; row += 1) {
        if (flags[row] === 0) continue;
        count += 1;
        terms += segment.lengths[row] as number;
      }
    }
    return { segments, count, terms };
  }

  #all(): readonly LiveSegment[] {
    this.#packedTail ??= this.#pack([...this.#tail.values()].flat());
    return [...this.#segments, ...this.#packedTail];
  }

  #seal(): void {
    this.#segments.push(...this.#pack([...this.#tail.values()].flat()));
    this.#tail.clear();
    this.sealed += 1;
  }

  #pack(entries: readonly IndexEntry[]): LiveSegment[] {
    const packed: LiveSegment[] = [];
    for (let from = 0; from < entries.length; from += rowsOfSegment) {
      packed.push(this.#open(packSegment(entries.slice(from, from + rowsOfSegment))));
    }
    return packed;
  }

  #open(bytes: Buffer): LiveSegment {
    const segment = new PackedSegment(bytes);
    const { rows, dimensions } = segment;
    if (dimensions > 0) this.#checkDimensions(dimensions);
    return { segment, bytes: bytes.length + rowOverhead * rows, alive: new Uint8Array(rows).fill(1), dead: 0 };
  }

  #checkDimensions(given: number): void {
    if (this.#dimensions === 0) this.#dimensions = given;
    if (given !== this.#dimensions) throw new Error(`a vector has ${given} dimensions, not ${this.#dimensions}`);
  }

  #endRows(group: string, hasEnded: (id: string) => boolean): void {
    for (const live of this.#segments) {
      const [from, to] = live.segment.rowsOfGroup(group);
      for (let row = from; row < to; row += 1) if (hasEnded(live.segment.id(row))) end(live, row);
    }
  }
}

/** The objects of an entry that is not packed, without its vector. */
const entryOverhead = 600;

/** A flag for each row, and now and then its id as a string. */
const rowOverhead = 50;

function end(live: LiveSegment, row: number): void {
  if (live.alive[row] !== 1) return;
  live.alive[row] = 0;
  live.dead += 1;
}

function keep(flags: Uint8Array, others: Uint8Array): void {
  for (let row = 0; row < flags.length; row += 1) flags[row] = (flags[row] as number) & (others[row] as number);
}
