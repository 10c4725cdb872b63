import type { Turns } from '#kit/concurrency/turns';
import { SearchUnavailableError } from '../../search-error.ts';
import { PackedPartition, type PackedSource } from './packed-partition.ts';

type PartitionsOptions = {
  readonly source: PackedSource;
  readonly turns: Turns;
  /** Estimated bytes of all partitions in memory together. */
  readonly mostBytes: number;
  /** Time after which a partition that was too large is read again even if it has not become smaller, milliseconds. */
  readonly refusedMs: number;
};

/** A partition that was too large is read again once its size has fallen to this share of its former value. */
const shareForRetry = 31 / 32;

/** Estimated bytes of the objects, views and maps of a partition, which even an empty partition has. */
export const partitionBytes = 8_192;

/** A partition and its estimated bytes, as they were when it was loaded or last changed. */
type Held = { readonly partition: PackedPartition; readonly bytes: number };

/** The partitions in memory. If they exceed the limit, the least recently used partitions are evicted. */
export class PackedPartitions {
  readonly #options: PartitionsOptions;
  /** The loaded partitions in the order of their last use. */
  readonly #loaded = new Map<string, Held>();
  #bytes = 0;
  readonly #loading = new Map<string, Promise<PackedPartition>>();
  readonly #loadingBytes = new Map<string, number>();
  /** Partitions that were removed while they were loaded. */
  readonly #removed = new Set<string>();
  /** The sizes of partitions that were above the bound when they were read last, and when that was. */
  readonly #refused = new Map<string, { readonly size: number; readonly at: number }>();

  constructor(options: PartitionsOptions) {
    this.#options = options;
  }

  /** Returns the partition if it is in memory; this counts as a use. */
  find(name: string): PackedPartition | undefined {
    const found = this.peek(name);
    if (found === undefined) return undefined;
    const held = this.#loaded.get(name) as Held;
    this.#loaded.delete(name);
    this.#loaded.set(name, held);
    if (found.isWorn) void this.load(name).catch(() => undefined);
    return found;
  }

  peek(name: string): PackedPartition | undefined {
    const found = this.#loaded.get(name)?.partition;
    if (found?.isRetired !== true) return found;
    this.#forget(name);
    return undefined;
  }

  names(): readonly string[] {
    return [...this.#loaded.keys()];
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Reads the partition from its source, once for concurrent calls; the previous one serves meanwhile. */
  load(name: string): Promise<PackedPartition> {
    const running = this.#loading.get(name);
    if (running !== undefined) return running;
    this.#removed.delete(name);
    const check = (bytes: number): void => {
      this.#loadingBytes.set(name, bytes);
      this.#makeRoom(name, bytes);
    };
    const loading = this.#readServable(name, check)
      .then((partition) => {
        this.#forget(name);
        if (!this.#removed.has(name)) this.#hold(partition);
        return partition;
      })
      .finally(() => {
        this.#loading.delete(name);
        this.#loadingBytes.delete(name);
        this.#removed.delete(name);
      });
    this.#loading.set(name, loading);
    return loading;
  }

  /**
   * Refuses a partition that was too large a short time ago and is not much smaller, because other partitions are
   * evicted during the reading.
   * @throws SearchUnavailableError; any error of the source
   */
  async #readServable(name: string, check: (bytes: number) => void): Promise<PackedPartition> {
    const refused = this.#refused.get(name);
    const { source, refusedMs } = this.#options;
    if (refused !== undefined && performance.now() - refused.at < refusedMs) {
      const size = (await source.sizeOf?.(name)) ?? 0;
      if (size > refused.size * shareForRetry) throw new SearchUnavailableError('too_large');
    }
    this.#refused.delete(name);
    try {
      return await PackedPartition.load(name, this.#options, check);
    } catch (error) {
      const isTooLarge = error instanceof SearchUnavailableError && error.fault === 'too_large';
      const size = isTooLarge ? await source.sizeOf?.(name) : undefined;
      if (size !== undefined) this.#refused.set(name, { size, at: performance.now() });
      throw error;
    }
  }

  /** Evicts partitions above the limit after a partition has grown. */
  settle(partition: PackedPartition): void {
    const { name } = partition;
    if (this.#loaded.get(name)?.partition === partition) this.#hold(partition);
    try {
      this.#makeRoom(name, partition.set.bytes, partition.set.tailBytes);
    } catch {
      partition.isRetired = true;
    }
  }

  remove(name: string): void {
    this.#refused.delete(name);
    if (this.#loading.has(name)) this.#removed.add(name);
    const found = this.#loaded.get(name);
    if (found !== undefined) found.partition.isRetired = true;
    this.#forget(name);
  }

  /** Records a partition with its present size; a known partition keeps its place in the order. */
  #hold(partition: PackedPartition): void {
    const { name, set } = partition;
    const bytes = set.bytes + set.tailBytes + partitionBytes;
    this.#bytes += bytes - (this.#loaded.get(name)?.bytes ?? 0);
    this.#loaded.set(name, { partition, bytes });
  }

  #forget(name: string): void {
    this.#bytes -= this.#loaded.get(name)?.bytes ?? 0;
    this.#loaded.delete(name);
  }

  /**
   * Evicts others so that a partition fits. The limit applies to the entries of a partition; its objects and later
   * changes are counted in addition.
   * @throws SearchUnavailableError if the entries of the partition alone exceed the limit
   */
  #makeRoom(name: string, needed: number, tailBytes = 0): void {
    const { mostBytes } = this.#options;
    if (needed > mostBytes) throw new SearchUnavailableError('too_large');
    let used = this.#bytes - (this.#loaded.get(name)?.bytes ?? 0) + needed + tailBytes + partitionBytes;
    for (const [other, bytes] of this.#loadingBytes) if (other !== name) used += bytes + partitionBytes;
    for (const [other, { bytes }] of this.#loaded) {
      if (used <= mostBytes) return;
      if (other === name) continue;
      used -= bytes;
      this.remove(other);
    }
  }
}
