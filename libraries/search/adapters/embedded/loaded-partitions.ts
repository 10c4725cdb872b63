import type { Turns } from '#kit/concurrency/turns';
import type { PartitionSource } from '../../ports.ts';
import { SearchUnavailableError } from '../../search-error.ts';
import { LivePartition } from './live-partition.ts';
import type { VectorMemory } from './vector-memory.ts';

type LoadedOptions = {
  readonly source: PartitionSource;
  readonly vectors: VectorMemory;
  readonly turns: Turns;
  /** Estimated bytes of all loaded partitions together. */
  readonly mostBytes: number;
  /** Time after which a refused partition is read again, milliseconds; 300,000 when absent. */
  readonly refusedMs?: number | undefined;
};

type Preload = { readonly stop: AbortController; bytes: number; readonly ended: Promise<void> };

/**
 * A partition that was too large is loaded again once its minimum size has fallen to this share of its former value.
 */
const shareForRetry = 31 / 32;
/**
 * The minimum size does not show whether the texts of a partition have become fewer, and each reading evicts other
 * partitions.
 */
const refusedMs = 300_000;

/** A preload was cancelled, because there was not enough memory or because a signal was aborted. */
class PreloadGivenUp extends Error {}

/** The partitions in memory. Beyond the limit, the partitions that were not queried for longest are evicted. */
export class LoadedPartitions {
  readonly #options: LoadedOptions;
  /** The loaded partitions in the order of their last use. */
  readonly #loaded = new Map<string, LivePartition>();
  readonly #loading = new Map<string, Promise<LivePartition>>();
  readonly #loadingBytes = new Map<string, number>();
  /** Loads ahead of the first query, which are cancelled if another load needs their memory. */
  readonly #preloads = new Map<string, Preload>();
  /** The least bytes of partitions that were above the bound when they were loaded last. */
  readonly #refused = new Map<string, { readonly least: number; readonly at: number }>();

  constructor(options: LoadedOptions) {
    this.#options = options;
  }

  /** Returns the partition if it is loaded; this counts as a use. */
  find(name: string): LivePartition | undefined {
    const found = this.peek(name);
    if (found === undefined) return undefined;
    this.#loaded.delete(name);
    this.#loaded.set(name, found);
    if (found.isWorn) void this.load(name).catch(() => undefined);
    return found;
  }

  names(): readonly string[] {
    return [...this.#loaded.keys()];
  }

  peek(name: string): LivePartition | undefined {
    const found = this.#loaded.get(name);
    if (found?.isRetired !== true) return found;
    this.#loaded.delete(name);
    return undefined;
  }

  /** Reads the partition from its source, once for concurrent calls; the previous one serves meanwhile. */
  load(name: string): Promise<LivePartition> {
    const running = this.#loading.get(name);
    if (running !== undefined) return running;
    const preload = this.#preloads.get(name);
    if (preload !== undefined) return preload.ended.then(() => this.peek(name) ?? this.load(name));
    const check = (bytes: number): void => {
      this.#loadingBytes.set(name, bytes);
      this.#makeRoom(name, bytes);
    };
    const loading = this.#readServable(name, check)
      .then((partition) => {
        this.remove(name);
        this.#loaded.set(name, partition);
        return partition;
      })
      .finally(() => {
        this.#loading.delete(name);
        this.#loadingBytes.delete(name);
      });
    this.#loading.set(name, loading);
    return loading;
  }

  /**
   * Reads a partition before its first query if it fits into memory together with all others; a preloaded partition is
   * evicted first. The load is cancelled when `signal` aborts or another partition needs the memory.
   * @returns whether the partition is in memory
   * @throws SearchUnavailableError if the partition does not exist; any error of the source
   */
  async preload(name: string, signal: AbortSignal): Promise<boolean> {
    if (this.peek(name) !== undefined || this.#loading.has(name) || this.#preloads.has(name)) return true;
    const stop = new AbortController();
    const either = AbortSignal.any([stop.signal, signal]);
    const ended = Promise.withResolvers<void>();
    const preload: Preload = { stop, bytes: 0, ended: ended.promise };
    this.#preloads.set(name, preload);
    const check = (bytes: number): void => {
      preload.bytes = bytes;
      if (either.aborted || this.#used > this.#options.mostBytes) throw new PreloadGivenUp();
    };
    try {
      const partition = await LivePartition.load(name, this.#options, check);
      try {
        check(partition.rows.bytes);
      } catch (error) {
        partition.retire();
        throw error;
      }
      const others = [...this.#loaded];
      this.#loaded.clear();
      for (const [other, loaded] of [[name, partition] as const, ...others]) this.#loaded.set(other, loaded);
      return true;
    } catch (error) {
      if (error instanceof PreloadGivenUp) return false;
      throw error;
    } finally {
      this.#preloads.delete(name);
      ended.resolve();
    }
  }

  /**
   * Refuses a partition that certainly exceeds the maximum size, before it is read, because other partitions are
   * evicted during the reading: a partition whose minimum size is too large, or a partition that was refused a short
   * time ago and is not much smaller.
   * @throws SearchUnavailableError; any error of the source
   */
  async #readServable(name: string, check: (bytes: number) => void): Promise<LivePartition> {
    const { source, mostBytes } = this.#options;
    const least = await source.leastBytes?.(name);
    const refused = this.#refused.get(name);
    const isRefused =
      refused !== undefined &&
      least !== undefined &&
      least > refused.least * shareForRetry &&
      performance.now() - refused.at < (this.#options.refusedMs ?? refusedMs);
    if ((least ?? 0) > mostBytes || isRefused) throw new SearchUnavailableError('too_large');
    try {
      const partition = await LivePartition.load(name, this.#options, check);
      this.#refused.delete(name);
      return partition;
    } catch (error) {
      const isTooLarge = error instanceof SearchUnavailableError && error.fault === 'too_large';
      if (isTooLarge && least !== undefined) this.#refused.set(name, { least, at: performance.now() });
      throw error;
    }
  }

  /** Evicts partitions above the limit after a partition has grown. */
  settle(partition: LivePartition): void {
    try {
      this.#makeRoom(partition.name, partition.rows.bytes);
    } catch {
      partition.retire();
    }
  }

  remove(name: string): void {
    this.#refused.delete(name);
    this.#loaded.get(name)?.retire();
    this.#loaded.delete(name);
  }

  removeAll(): void {
    for (const { stop } of this.#preloads.values()) stop.abort();
    for (const name of [...this.#loaded.keys()]) this.remove(name);
  }

  get bytes(): number {
    let bytes = 0;
    for (const partition of this.#loaded.values()) bytes += partition.rows.bytes;
    return bytes;
  }

  /** Estimated bytes of everything that is loaded or being loaded. */
  get #used(): number {
    let bytes = this.bytes;
    for (const loading of this.#loadingBytes.values()) bytes += loading;
    for (const preload of this.#preloads.values()) bytes += preload.bytes;
    return bytes;
  }

  /** @throws SearchUnavailableError if the partition alone exceeds the bound */
  #makeRoom(name: string, needed: number): void {
    const { mostBytes } = this.#options;
    if (needed > mostBytes) throw new SearchUnavailableError('too_large');
    let others = this.bytes - (this.#loaded.get(name)?.rows.bytes ?? 0);
    for (const [other, bytes] of this.#loadingBytes) if (other !== name) others += bytes;
    let ahead = 0;
    for (const { bytes } of this.#preloads.values()) ahead += bytes;
    if (others + ahead + needed > mostBytes) for (const { stop } of this.#preloads.values()) stop.abort();
    for (const [other, partition] of this.#loaded) {
      if (others + needed <= mostBytes) return;
      if (other === name) continue;
      others -= partition.rows.bytes;
      this.remove(other);
    }
  }
}
