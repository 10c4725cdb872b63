import { wait } from '#kit/time/wait';
import type { Candidate, CandidateQuery, SearchIndex } from '../../ports.ts';
import { Turns } from '../../turns.ts';
import { waitAtMost } from '../../wait-at-most.ts';
import type { PackedPartition, PackedSource } from './packed-partition.ts';
import { PackedPartitions } from './packed-partitions.ts';
import { rankSegmentsByTerms, rankSegmentsByVector } from './rank-segments.ts';

/** Longest waits of a query, milliseconds; past them it ends with SearchUnavailableError `behind`. */
const packedLimits = {
  /** For the changes that it must reflect. */
  followMs: 1_000,
  /** For a partition that is not in memory yet. */
  loadMs: 10_000,
} as const;

/** Before a source that did not name the awaited change is asked again. */
const pauseMs = 20;
const neverAborted = new AbortController().signal;

type PackedOptions = {
  readonly source: PackedSource;
  /** Estimated bytes of all partitions in memory together; a larger partition is not served. */
  readonly mostBytes: number;
};

type PackedIndex = SearchIndex & {
  /** The names of the partitions in memory. */
  loaded(): readonly string[];
  /** Estimated bytes of the partitions in memory. */
  bytes(): number;
};

/**
 * The index of many small partitions in the memory of this process: BM25 and vectors of 8 bits. The first query of a
 * partition reads its segments in one statement and scores them as they are; every query reads the changes that it must
 * reflect and are not applied yet (docs/design/memory.md, "Segments").
 */
export function openPackedIndex({ source, mostBytes }: PackedOptions): PackedIndex {
  const turns = new Turns();
  const partitions = new PackedPartitions({ source, turns, mostBytes });

  /** The partition, in memory and up to date. */
  async function current(
    { partition: name, reflects }: CandidateQuery,
    signal: AbortSignal | undefined,
  ): Promise<PackedPartition> {
    const start = performance.now();
    for (;;) {
      const found = partitions.find(name);
      const ms = start + packedLimits.loadMs - performance.now();
      const partition = found ?? (await waitAtMost(partitions.load(name), { ms, signal }));
      await catchUp(partition, reflects, signal);
      if (!partition.isRetired) return partition;
    }
  }

  async function catchUp(partition: PackedPartition, reflects: bigint, signal: AbortSignal | undefined): Promise<void> {
    const deadline = performance.now() + packedLimits.followMs;
    while (partition.appliedThrough < reflects && !partition.isRetired) {
      const before = partition.appliedThrough;
      const ms = deadline - performance.now();
      await waitAtMost(partition.follow(), { ms, signal });
      partitions.settle(partition);
      if (partition.appliedThrough === before) await wait(Math.min(pauseMs, ms), signal ?? neverAborted);
    }
  }

  async function candidates(query: CandidateQuery, signal?: AbortSignal): Promise<readonly (readonly Candidate[])[]> {
    signal?.throwIfAborted();
    const { set } = await current(query, signal);
    const visible = set.visible(query.labels, query.condition);
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
      // Nothing to do: this engine reads changes from its source.
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
