import { Turns } from '#kit/concurrency/turns';
import { catchUp, queryWaits } from '../../catch-up.ts';
import type { Candidate, CandidateQuery, SearchIndex } from '../../ports.ts';
import { waitAtMost } from '../../wait-at-most.ts';
import type { PackedPartition, PackedSource } from './packed-partition.ts';
import { PackedPartitions } from './packed-partitions.ts';
import { rankSegmentsByTerms, rankSegmentsByVector } from './rank-segments.ts';

type PackedOptions = {
  readonly source: PackedSource;
  /** Estimated bytes of all partitions in memory together; a larger partition is not served. */
  readonly mostBytes: number;
  /**
   * Time after which a partition that was too large is read again even if it has not become smaller, milliseconds;
   * 300,000 when absent.
   */
  readonly refusedMs?: number;
};

type PackedIndex = SearchIndex & {
  /** The names of the partitions in memory. */
  loaded(): readonly string[];
  /** Estimated bytes of the partitions in memory. */
  bytes(): number;
};

/**
 * The index of many small partitions in the memory of this process: BM25 and vectors of 8 bits. The first query of a
 * partition reads its segments in one statement and scores them without conversion; every query reads the missing
 * changes that it must reflect (docs/design/memory.md, "Segments").
 */
export function openPackedIndex({ source, mostBytes, refusedMs = 300_000 }: PackedOptions): PackedIndex {
  const turns = new Turns();
  const partitions = new PackedPartitions({ source, turns, mostBytes, refusedMs });

  async function follow(partition: PackedPartition): Promise<void> {
    await partition.follow();
    partitions.settle(partition);
  }

  /** The partition, in memory and up to date. */
  async function current(
    { partition: name, reflects }: CandidateQuery,
    signal: AbortSignal | undefined,
  ): Promise<PackedPartition> {
    const start = performance.now();
    for (;;) {
      const found = partitions.find(name);
      const ms = start + queryWaits.loadMs - performance.now();
      const partition = found ?? (await waitAtMost(partitions.load(name), { ms, signal }));
      await catchUp(partition, reflects, () => follow(partition), signal);
      if (!partition.isRetired) return partition;
    }
  }

  async function candidates(query: CandidateQuery, signal?: AbortSignal): Promise<readonly (readonly Candidate[])[]> {
    signal?.throwIfAborted();
    const { set } = await current(query, signal);
    const visible = await set.visible(query.labels, query.condition, turns);
    const rankings: (readonly Candidate[])[] = [];
    for (const leg of query.legs) {
      signal?.throwIfAborted();
      const { window } = query;
      rankings.push(
        leg.kind === 'bm25'
          ? await rankSegmentsByTerms(visible, { terms: leg.terms, window }, turns)
          : await rankSegmentsByVector(visible, { vector: leg.vector, window }, turns),
      );
    }
    return rankings;
  }

  return {
    mostCandidates: Number.POSITIVE_INFINITY,
    candidates,
    async write() {
      // This engine reads changes from its source, so that this method does nothing.
    },
    async drop(name) {
      partitions.remove(name);
    },
    loaded: () => partitions.names(),
    bytes: () => partitions.bytes,
    async [Symbol.asyncDispose]() {
      for (const name of partitions.names()) partitions.remove(name);
    },
  };
}
