import type { Turns } from '#kit/concurrency/turns';
import { blockOf } from '../../packed/block-of.ts';
import type { CommittedChanges, EntryBlock, IndexChange, IndexEntry, PartitionSource } from '../../ports.ts';
import { SearchUnavailableError } from '../../search-error.ts';
import { PartitionRows } from './partition-rows.ts';
import type { VectorMemory } from './vector-memory.ts';

type Parts = { readonly source: PartitionSource; readonly vectors: VectorMemory; readonly turns: Turns };

/**
 * How many ended rows are tolerated in addition to the live rows: at least this number, and at most a third of all
 * rows.
 */
const fewDead = 1_000;

/**
 * A loaded partition, which follows the changes of its source. Its rows stay in memory until the last query on them has
 * ended.
 */
export class LivePartition {
  readonly name: string;
  readonly rows: PartitionRows;
  /** The partition reflects every change up to this number. */
  appliedThrough: bigint;
  readonly #parts: Parts;
  #following: Promise<void> | undefined;
  #pins = 0;
  #isRetired = false;

  private constructor(name: string, parts: Parts, upTo: bigint) {
    this.name = name;
    this.rows = new PartitionRows(parts.vectors);
    this.appliedThrough = upTo;
    this.#parts = parts;
  }

  /**
   * Reads a partition from its source.
   * @throws SearchUnavailableError if it does not exist; whatever the source or `check`, called after each page, throws
   */
  static async load(name: string, parts: Parts, check: (bytes: number) => void): Promise<LivePartition> {
    const found = await loadBlocks(parts.source, name);
    if (found === undefined) throw new SearchUnavailableError('absent');
    const partition = new LivePartition(name, parts, found.upTo);
    try {
      for await (const page of found.blocks) {
        await partition.#put(page);
        check(partition.rows.bytes);
      }
      await partition.follow();
      if (partition.isRetired) throw new SearchUnavailableError('behind');
    } catch (error) {
      partition.retire();
      throw error;
    }
    return partition;
  }

  /** Whether so many rows have ended that loading the partition again is worth the cost. */
  get isWorn(): boolean {
    return this.rows.dead > Math.max(fewDead, this.rows.live / 2);
  }

  get isRetired(): boolean {
    return this.#isRetired;
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

  /** Keeps the rows in memory until the result is disposed. */
  pin(): Disposable {
    this.#pins += 1;
    return {
      [Symbol.dispose]: () => {
        this.#pins -= 1;
        this.#releaseIfUnused();
      },
    };
  }

  /** Ends the use of the partition for new queries. */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#releaseIfUnused();
  }

  #releaseIfUnused(): void {
    if (this.#isRetired && this.#pins === 0) this.rows.release();
  }

  async #readChanges(): Promise<void> {
    using _pin = this.pin();
    let found: CommittedChanges | undefined;
    do {
      found = await this.#parts.source.changesAfter(this.name, this.appliedThrough);
      if (found?.kind !== 'changes') {
        this.retire();
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
        this.rows.apply(change);
        if (this.#parts.turns.isOver()) await this.#parts.turns.next();
      }
    } catch (error) {
      // A part of the changes is applied: the next query loads the partition again.
      this.retire();
      throw error;
    }
  }

  async #put(blocks: readonly EntryBlock[]): Promise<void> {
    for (const block of blocks) {
      this.rows.putBlock(block);
      if (this.#parts.turns.isOver()) await this.#parts.turns.next();
    }
  }
}

/**
 * Number of entries in one block if the source has no blocks, so that each block is added within one turn of the event
 * loop.
 */
const entriesOfBlock = 32;

async function loadBlocks(
  source: PartitionSource,
  name: string,
): Promise<{ readonly upTo: bigint; readonly blocks: AsyncIterable<readonly EntryBlock[]> } | undefined> {
  if (source.loadBlocks !== undefined) return source.loadBlocks(name);
  const found = await source.load(name);
  return found && { upTo: found.upTo, blocks: packPages(found.entries) };
}

async function* packPages(pages: AsyncIterable<readonly IndexEntry[]>): AsyncGenerator<readonly EntryBlock[]> {
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += entriesOfBlock) yield [blockOf(page.slice(at, at + entriesOfBlock))];
  }
}
