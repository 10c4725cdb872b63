import type { PartitionSource } from '../../ports.ts';
import { SearchUnavailableError } from '../../search-error.ts';
import { LivePartition } from './live-partition.ts';
import type { Turns } from './turns.ts';
import type { VectorMemory } from './vector-memory.ts';

type LoadedOptions = {
  readonly source: PartitionSource;
  readonly vectors: VectorMemory;
  readonly turns: Turns;
  /** Estimated bytes of all loaded partitions together. */
  readonly mostBytes: number;
};

/** The partitions in memory. Beyond the bound, those that were not asked for longest are evicted. */
export class LoadedPartitions {
  readonly #options: LoadedOptions;
  /** In the order of their last use. */
  readonly #loaded = new Map<string, LivePartition>();
  readonly #loading = new Map<string, Promise<LivePartition>>();
  readonly #loadingBytes = new Map<string, number>();

  constructor(options: LoadedOptions) {
    this.#options = options;
  }

  /** The partition if it is loaded; it counts as used. */
  find(name: string): LivePartition | undefined {
    const found = this.peek(name);
    if (found === undefined) return undefined;
    this.#loaded.delete(name);
    this.#loaded.set(name, found);
    if (found.isWorn) void this.load(name).catch(() => undefined);
    return found;
  }

  peek(name: string): LivePartition | undefined {
    const found = this.#loaded.get(name);
    if (found?.isRetired !== true) return found;
    this.#loaded.delete(name);
    return undefined;
  }

  /** Reads the partition from its source, once for calls at the same time; the former one serves meanwhile. */
  load(name: string): Promise<LivePartition> {
    const running = this.#loading.get(name);
    if (running !== undefined) return running;
    const check = (bytes: number): void => {
      this.#loadingBytes.set(name, bytes);
      this.#makeRoom(name, bytes);
    };
    const loading = LivePartition.load(name, this.#options, check)
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

  /** Evicts what exceeds the bound after a partition has grown. */
  settle(partition: LivePartition): void {
    try {
      this.#makeRoom(partition.name, partition.rows.bytes);
    } catch {
      partition.retire();
    }
  }

  remove(name: string): void {
    this.#loaded.get(name)?.retire();
    this.#loaded.delete(name);
  }

  removeAll(): void {
    for (const name of [...this.#loaded.keys()]) this.remove(name);
  }

  get bytes(): number {
    let bytes = 0;
    for (const partition of this.#loaded.values()) bytes += partition.rows.bytes;
    return bytes;
  }

  /** @throws SearchUnavailableError if the partition alone exceeds the bound */
  #makeRoom(name: string, needed: number): void {
    const { mostBytes } = this.#options;
    if (needed > mostBytes) throw new SearchUnavailableError('too_large');
    let others = this.bytes - (this.#loaded.get(name)?.rows.bytes ?? 0);
    for (const [other, bytes] of this.#loadingBytes) if (other !== name) others += bytes;
    for (const [other, partition] of this.#loaded) {
      if (others + needed <= mostBytes) return;
      if (other === name) continue;
      others -= partition.rows.bytes;
      this.remove(other);
    }
  }
}
