import type { Turns } from '#kit/concurrency/turns';
import { SearchUnavailableError } from '../../search-error.ts';
import { PackedPartition, type PackedSource } from './packed-partition.ts';

type PartitionsOptions = {
  readonly source: PackedSource;
  readonly turns: Turns;
  /** Estimated bytes of all partitions in memory together. */
  readonly mostBytes: number;
};

/** The partitions in memory. Beyond the bound, those that were not asked for longest are evicted. */
export class PackedPartitions {
  readonly #options: PartitionsOptions;
  /** In the order of their last use. */
  readonly #loaded = new Map<string, PackedPartition>();
  readonly #loading = new Map<string, Promise<PackedPartition>>();
  readonly #loadingBytes = new Map<string, number>();
  /** Partitions that were removed while they were loaded. */
  readonly #removed = new Set<string>();

  constructor(options: PartitionsOptions) {
    this.#options = options;
  }

  /** The partition if it is in memory; it counts as used. */
  find(name: string): PackedPartition | undefined {
    const found = this.peek(name);
    if (found === undefined) return undefined;
    this.#loaded.delete(name);
    this.#loaded.set(name, found);
    if (found.isWorn) void this.load(name).catch(() => undefined);
    return found;
  }

  peek(name: string): PackedPartition | undefined {
    const found = this.#loaded.get(name);
    if (found?.isRetired !== true) return found;
    this.#loaded.delete(name);
    return undefined;
  }

  names(): readonly string[] {
    return [...this.#loaded.keys()];
  }

  get bytes(): number {
    return [...this.#loaded.values()].reduce((sum, { set }) => sum + set.bytes, 0);
  }

  /** Reads the partition from its source, once for calls at the same time; the former one serves meanwhile. */
  load(name: string): Promise<PackedPartition> {
    const running = this.#loading.get(name);
    if (running !== undefined) return running;
    this.#removed.delete(name);
    const check = (bytes: number): void => {
      this.#loadingBytes.set(name, bytes);
      this.#makeRoom(name, bytes);
    };
    const loading = PackedPartition.load(name, this.#options, check)
      .then((partition) => {
        this.#loaded.delete(name);
        if (!this.#removed.has(name)) this.#loaded.set(name, partition);
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

  /** Evicts what exceeds the bound after a partition has grown. */
  settle(partition: PackedPartition): void {
    try {
      this.#makeRoom(partition.name, partition.set.bytes);
    } catch {
      partition.isRetired = true;
    }
  }

  remove(name: string): void {
    if (this.#loading.has(name)) this.#removed.add(name);
    const found = this.#loaded.get(name);
    if (found !== undefined) found.isRetired = true;
    this.#loaded.delete(name);
  }

  /** @throws SearchUnavailableError if the partition alone exceeds the bound */
  #makeRoom(name: string, needed: number): void {
    const { mostBytes } = this.#options;
    if (needed > mostBytes) throw new SearchUnavailableError('too_large');
    let used = needed;
    for (const [other, { set }] of this.#loaded) if (other !== name) used += set.bytes;
    for (const [other, bytes] of this.#loadingBytes) if (other !== name) used += bytes;
    for (const other of this.#loaded.keys()) {
      if (used <= mostBytes) return;
      if (other === name) continue;
      used -= this.#loaded.get(other)?.set.bytes ?? 0;
      this.remove(other);
    }
  }
}
