import type { CommittedChanges, IndexChange, IndexEntry, PartitionSource } from '../ports.ts';

type Kept = { entries: Map<string, IndexEntry>; numbers: Map<string, bigint>; changeNo: bigint };

/** A source of partitions in memory, which numbers its changes as a database would. */
export class MemorySource implements PartitionSource {
  /** Entries of a page and groups of one answer about changes. */
  pageSize = 3;
  /** What reading rejects with; undefined if the source answers. */
  failure: Error | undefined;
  /** Changes before this number are no longer known. */
  forgottenThrough = 0n;
  /** Called before each page of a load. */
  beforePage: (() => Promise<void>) | undefined;
  loads = 0;
  readonly #partitions = new Map<string, Kept>();

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
        for (const entry of kept.entries.values()) {
          if (entry.group === group && !change.ids.includes(entry.id)) kept.entries.delete(entry.id);
        }
      }
    }
    return kept.changeNo;
  }

  remove(partition: string): void {
    this.#partitions.delete(partition);
  }

  async load(partition: string) {
    this.loads += 1;
    const kept = this.#answering(partition);
    return kept && { upTo: kept.changeNo, entries: this.#pages(kept) };
  }

  async changesAfter(partition: string, after: bigint): Promise<CommittedChanges | undefined> {
    const kept = this.#answering(partition);
    if (kept === undefined) return undefined;
    if (after < this.forgottenThrough) return { kind: 'forgotten' };
    const numbers = [...kept.numbers].filter(([, number]) => number > after);
    const changed = numbers.toSorted(([, one], [, other]) => Number(one - other)).slice(0, this.pageSize);
    const last = changed.at(-1)?.[1];
    const groups = numbers.filter(([, number]) => last !== undefined && number <= last).map(([group]) => group);
    const more = groups.length < numbers.length;
    return {
      kind: 'changes',
      changes: groups.flatMap((group) => contentOf(kept, group)),
      upTo: more && last !== undefined ? last : kept.changeNo,
      more,
    };
  }

  #answering(partition: string): Kept | undefined {
    if (this.failure !== undefined) throw this.failure;
    return this.#partitions.get(partition);
  }

  /** Pages by id, each of which sees the entries of its time. */
  async *#pages(kept: Kept): AsyncGenerator<readonly IndexEntry[]> {
    let after = '';
    for (;;) {
      await this.beforePage?.();
      if (this.failure !== undefined) throw this.failure;
      const ids = [...kept.entries.keys()].filter((id) => id > after).sort();
      const page = ids.slice(0, this.pageSize).flatMap((id) => kept.entries.get(id) ?? []);
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.id;
      yield page;
    }
  }
}

function contentOf(kept: Kept, group: string): readonly IndexChange[] {
  const entries = [...kept.entries.values()].filter((entry) => entry.group === group);
  return [
    ...entries.map((entry): IndexChange => ({ kind: 'put', entry })),
    { kind: 'retain', group, ids: entries.map(({ id }) => id) },
  ];
}
