import { packSegment } from '../adapters/packed/pack-segment.ts';
import { openPackedIndex } from '../adapters/packed/packed-index.ts';
import type { PackedSource } from '../adapters/packed/packed-partition.ts';
import { PackedSegment } from '../adapters/packed/packed-segment.ts';
import { planRepack } from '../adapters/packed/plan-repack.ts';
import type { IndexChange, IndexEntry } from '../ports.ts';
import { MemorySource } from './memory-source.ts';
import type { SearchWorld } from './search-index-suite.ts';

type Stored = { readonly bytes: Buffer; ended: readonly number[] };

/** A source in memory that packs a partition as a service does: from the stored segments and the changes since. */
class PackedMemorySource extends MemorySource implements PackedSource {
  readonly #stored = new Map<string, { readonly upTo: bigint; readonly segments: Map<number, Stored> }>();
  #numbers = 0;

  async sizeOf(partition: string): Promise<number> {
    return this.entriesIn(partition);
  }

  async segments(partition: string) {
    if (this.failure !== undefined) throw this.failure;
    const found = this.#stored.get(partition);
    return found && { upTo: found.upTo, segments: [...found.segments.values()] };
  }

  /** Packs the changes since the last packing. */
  async pack(partition: string): Promise<void> {
    const { upTo, segments } = this.#stored.get(partition) ?? { upTo: 0n, segments: new Map<number, Stored>() };
    const found = await this.changesAfter(partition, upTo);
    if (found?.kind !== 'changes') throw new Error('the changes are unknown');
    const changes = (await Array.fromAsync(found.changes)).flat();
    const groups = new Set(changes.map((change) => (change.kind === 'put' ? change.entry.group : change.group)));
    const opened = [...segments].map(([number, { bytes, ended }]) => ({
      ...{ number, segment: new PackedSegment(bytes), ended },
    }));
    const plan = planRepack(opened, [...groups]);
    const kept = await this.#entriesOf(partition, plan.groups);
    const changed = await this.#entriesOf(partition, [...groups]);
    const next = new Map(segments);
    for (const number of plan.replaced) next.delete(number);
    for (const [number, ended] of plan.ended) next.set(number, { bytes: (next.get(number) as Stored).bytes, ended });
    this.#numbers += 1;
    next.set(this.#numbers, { bytes: packSegment([...kept, ...changed]), ended: [] });
    this.#stored.set(partition, { upTo: found.upTo, segments: next });
  }

  async #entriesOf(partition: string, groups: readonly string[]): Promise<readonly IndexEntry[]> {
    const wanted = new Set(groups);
    const entries: IndexEntry[] = [];
    const loaded = await this.load(partition);
    for await (const page of loaded?.entries ?? []) entries.push(...page.filter(({ group }) => wanted.has(group)));
    return entries;
  }
}

type PackedWorldOptions = {
  readonly mostBytes?: number;
  readonly refusedMs?: number;
  /** Pack after every so many commits, and leave the memory of the index after each of them; never if absent. */
  readonly packEvery?: number;
};

/** The packed index over a source in memory, with small pages so that tests meet their edges. */
export function openPackedWorld({ mostBytes = 64 * 2 ** 20, packEvery, ...more }: PackedWorldOptions = {}) {
  const source = new PackedMemorySource({ pageSize: 3, groupsAtOnce: 3 });
  const index = openPackedIndex({ source, mostBytes, ...more });
  let commits = 0;
  return {
    source,
    index,
    async commit(partition: string, changes: readonly IndexChange[]) {
      const changeNo = source.commit(partition, changes);
      commits += 1;
      if (packEvery !== undefined) {
        if (commits % packEvery === 0) await source.pack(partition);
        await index.drop(partition);
      }
      return changeNo;
    },
    async interrupt() {
      source.failure = new Error('the database is away');
      for (const name of index.loaded()) await index.drop(name);
    },
    [Symbol.asyncDispose]: () => index[Symbol.asyncDispose](),
  } satisfies SearchWorld & { readonly source: PackedMemorySource };
}
