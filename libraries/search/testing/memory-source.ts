import type { IndexChange, IndexEntry, PartitionSource } from '../ports.ts';
import { readPartitions } from '../read-partitions.ts';

type Kept = { entries: Map<string, IndexEntry>; numbers: Map<string, bigint>; changeNo: bigint };

/** Tables of entries in memory, which number their changes like a database and are read in the same way. */
export class MemorySource implements PartitionSource {
  /** The error with which reads reject; undefined if the source answers. */
  failure: Error | undefined;
  /** Groups that ended with this change or an earlier one were removed. */
  forgottenThrough = 0n;
  /** Called before each page of a load. */
  beforePage: (() => Promise<void>) | undefined;
  /** Called between the newest number and the groups of each reading of changes. */
  beforeGroups: (() => void) | undefined;
  /** The reading of changed entries rejects after so many pages; undefined if it does not. */
  failAfterPages: number | undefined;
  loads = 0;
  /** Minimum number of bytes of each entry; undefined if the source cannot state the size of a partition. */
  bytesOfEntry: number | undefined;
  readonly #partitions = new Map<string, Kept>();
  readonly #source: PartitionSource;

  constructor(options: { readonly pageSize: number; readonly groupsAtOnce: number }) {
    this.#source = readPartitions<string>(
      {
        numbers: async (partition) => {
          const kept = this.#answering(partition);
          return kept && { newest: kept.changeNo, forgottenThrough: this.forgottenThrough };
        },
        page: (partition, after, size) => this.#page(partition, after ?? '', size),
        changedGroups: async (partition, after, size) => {
          this.beforeGroups?.();
          const changed = [...(this.#answering(partition)?.numbers ?? [])].filter(([, number]) => number > after);
          changed.sort(([, one], [, other]) => Number(one - other));
          const last = changed[size - 1]?.[1];
          const groups = changed
            .filter(([, number], at) => at < size || number === last)
            .map(([group, changeNo]) => ({ group, changeNo }));
          return { groups, more: groups.length < changed.length };
        },
        entriesOf: (partition, groups) => this.#entriesOf(partition, groups, options.pageSize),
      },
      options,
    );
  }

  /** Commits changes of a partition, which exists from its first commit on; the number of the commit. */
  commit(partition: string, changes: readonly IndexChange[]): bigint {
    const kept = this.#partitions.get(partition) ?? { entries: new Map(), numbers: new Map(), changeNo: 0n };
    this.#partitions.set(partition, kept);
    kept.changeNo += 1n;
    for (const change of changes) {
      const group = change.kind === 'put' ? change.entry.group : change.group;
      kept.numbers.set(group, kept.changeNo);
      if (change.kind === 'put') kept.entries.set(change.entry.id, change.entry);
      else {
        const retained = new Set(change.ids);
        for (const entry of kept.entries.values()) {
          if (entry.group === group && !retained.has(entry.id)) kept.entries.delete(entry.id);
        }
      }
    }
    return kept.changeNo;
  }

  load(partition: string) {
    this.loads += 1;
    return this.#source.load(partition);
  }

  async leastBytes(partition: string): Promise<number | undefined> {
    return this.bytesOfEntry && this.bytesOfEntry * this.entriesIn(partition);
  }

  /** The number of entries of a partition. */
  entriesIn(partition: string): number {
    return this.#answering(partition)?.entries.size ?? 0;
  }

  changesAfter(partition: string, after: bigint) {
    return this.#source.changesAfter(partition, after);
  }

  #answering(partition: string): Kept | undefined {
    if (this.failure !== undefined) throw this.failure;
    return this.#partitions.get(partition);
  }

  async *#entriesOf(partition: string, groups: readonly string[], size: number): AsyncGenerator<readonly IndexEntry[]> {
    const all = [...(this.#answering(partition)?.entries.values() ?? [])].filter(({ group }) => groups.includes(group));
    for (let from = 0, pages = 0; from < all.length; from += size, pages += 1) {
      if (pages === this.failAfterPages) throw new Error('the source failed');
      yield all.slice(from, from + size);
    }
  }

  /** The entries after an id, in their current state. */
  async #page(partition: string, after: string, size: number) {
    await this.beforePage?.();
    const kept = this.#answering(partition);
    const ids = [...(kept?.entries.keys() ?? [])].filter((id) => id > after).sort();
    const entries = ids.slice(0, size).flatMap((id) => kept?.entries.get(id) ?? []);
    return { entries, next: entries.length < size ? undefined : entries.at(-1)?.id };
  }
}
