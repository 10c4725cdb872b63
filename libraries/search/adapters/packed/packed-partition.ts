import type { Turns } from '#kit/concurrency/turns';
import type { CommittedChanges, IndexChange, IndexEntry, PartitionSource } from '../../ports.ts';
import { SearchUnavailableError } from '../../search-error.ts';
import { rowsOfSegment } from './segment-layout.ts';
import { SegmentSet } from './segment-set.ts';

/** A stored segment, and its rows that ended since. */
type StoredSegment = { readonly bytes: Buffer; readonly ended: readonly number[] };

/** A source of partitions that also stores them packed. */
export type PackedSource = PartitionSource & {
  /**
   * The stored segments of a partition and the number of the last change that they contain, read in one snapshot;
   * undefined if the partition has no segments.
   */
  segments(
    partition: string,
  ): Promise<{ readonly upTo: bigint; readonly segments: readonly StoredSegment[] } | undefined>;
  /**
   * A measure of the size of a partition, read without its entries, which decreases only when the partition becomes
   * smaller; undefined if it is not known.
   */
  sizeOf?(partition: string): Promise<number | undefined>;
};

type Parts = { readonly source: PackedSource; readonly turns: Turns };

/**
 * How many ended rows are tolerated in addition to the live rows: at least this number, and at most a third of all
 * rows.
 */
const fewDead = 1_000;
/** Segments of later changes that are tolerated. */
const fewSealed = 16;

/** A partition in memory, which follows its source. */
export class PackedPartition {
  readonly name: string;
  readonly set: SegmentSet;
  /** The partition reflects every change up to this number. */
  appliedThrough = 0n;
  /** Whether new queries load the partition again, because its changes are no longer known. */
  isRetired = false;
  readonly #parts: Parts;
  #following: Promise<void> | undefined;

  private constructor(name: string, parts: Parts, set: SegmentSet) {
    this.name = name;
    this.set = set;
    this.#parts = parts;
  }

  /**
   * Reads a partition: its segments, or its entries if there are no segments, and the later changes.
   * @throws SearchUnavailableError if the partition does not exist; any error of the source or of `check`, which is
   * called after each part
   */
  static async load(name: string, parts: Parts, check: (bytes: number) => void): Promise<PackedPartition> {
    const stored = await parts.source.segments(name);
    const opened = stored && openSegments(stored.segments);
    const partition = new PackedPartition(name, parts, opened ?? new SegmentSet());
    if (stored === undefined || opened === undefined) await partition.#loadEntries(check);
    else {
      partition.appliedThrough = stored.upTo;
      check(partition.set.bytes);
    }
    await partition.follow();
    check(partition.set.bytes);
    // A deletion was committed between the segments and the later changes.
    if (partition.isRetired) throw new SearchUnavailableError('behind');
    return partition;
  }

  /** Whether loading the partition again is worth the cost. */
  get isWorn(): boolean {
    return this.set.sealed > fewSealed || this.set.dead > Math.max(fewDead, this.set.live / 2);
  }

  /**
   * Applies the changes that were committed since the last call; concurrent calls share one reading. If the source no
   * longer knows these changes, the partition is retired.
   */
  follow(): Promise<void> {
    this.#following ??= this.#readChanges().finally(() => {
      this.#following = undefined;
    });
    return this.#following;
  }

  async #loadEntries(check: (bytes: number) => void): Promise<void> {
    const found = await this.#parts.source.load(this.name);
    if (found === undefined) throw new SearchUnavailableError('absent');
    this.appliedThrough = found.upTo;
    let waiting: IndexEntry[] = [];
    for await (const page of found.entries) {
      waiting.push(...page);
      while (waiting.length >= rowsOfSegment) {
        await this.set.addEntries(waiting.slice(0, rowsOfSegment), this.#parts.turns);
        waiting = waiting.slice(rowsOfSegment);
        check(this.set.bytes);
      }
    }
    await this.set.addEntries(waiting, this.#parts.turns);
    check(this.set.bytes);
  }

  async #readChanges(): Promise<void> {
    let found: CommittedChanges | undefined;
    do {
      found = await this.#parts.source.changesAfter(this.name, this.appliedThrough);
      if (found?.kind !== 'changes') {
        this.isRetired = true;
        if (found === undefined) throw new SearchUnavailableError('absent');
        return;
      }
      for await (const page of found.changes) await this.#apply(page);
      this.appliedThrough = found.upTo;
    } while (found.more);
  }

  async #apply(changes: readonly IndexChange[]): Promise<void> {
    try {
      for (const change of changes) {
        this.set.apply(change);
        if (this.#parts.turns.isOver()) await this.#parts.turns.next();
      }
    } catch (error) {
      // A part of the changes is applied: the next query loads the partition again.
      this.isRetired = true;
      throw error;
    }
  }
}

/** Opens a stored segment; undefined if it has the layout of another release: the entries are read instead. */
function openSegments(segments: readonly StoredSegment[]): SegmentSet | undefined {
  const set = new SegmentSet();
  try {
    for (const { bytes, ended } of segments) set.addSegment(bytes, ended);
    return set;
  } catch {
    return undefined;
  }
}
