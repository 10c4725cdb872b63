import { wait } from '#kit/time/wait';
import type { Candidate, CandidateQuery, Leg, PartitionSource, SearchIndex } from '../../ports.ts';
import { SearchUnavailableError } from '../../search-error.ts';
import type { LivePartition } from './live-partition.ts';
import { LoadedPartitions } from './loaded-partitions.ts';
import type { VisibleRows } from './partition-rows.ts';
import { rankByTerms } from './rank-by-terms.ts';
import { rankByVector } from './rank-by-vector.ts';
import { Turns } from './turns.ts';
import { VectorMemory } from './vector-memory.ts';
import { waitAtMost } from './wait-at-most.ts';

/** Longest waits of a query, milliseconds; past them it ends with SearchUnavailableError `behind`. */
export const embeddedLimits = {
  /** For the changes that it must reflect. */
  followMs: 1_000,
  /** For a partition that is not in memory yet. */
  loadMs: 10_000,
} as const;

/** Before a source that did not name the awaited change is asked again. */
const pauseMs = 20;
const neverAborted = new AbortController().signal;

type EmbeddedOptions = {
  readonly source: PartitionSource;
  /** Estimated bytes of all loaded partitions together; a larger partition is not served. */
  readonly mostBytes: number;
};

export type EmbeddedIndex = SearchIndex & {
  /** Applies what was committed to a loaded partition, so that the next query need not; never rejects. */
  refresh(partition: string): Promise<void>;
  /** The number of the newest applied change; undefined if the partition is not in memory. */
  appliedThrough(partition: string): bigint | undefined;
  /** Estimated bytes of the partitions in memory. */
  bytes(): number;
};

/**
 * The index in the memory of this process: BM25 and exact vectors. A partition is read from its source by the first
 * query; every query reads the changes that it must reflect and are not applied yet.
 */
export function openEmbeddedIndex({ source, mostBytes }: EmbeddedOptions): EmbeddedIndex {
  const vectors = new VectorMemory();
  const turns = new Turns();
  const partitions = new LoadedPartitions({ source, vectors, turns, mostBytes });

  async function follow(partition: LivePartition): Promise<void> {
    await partition.follow();
    partitions.settle(partition);
  }

  async function reflecting(name: string, reflects: bigint, signal: AbortSignal | undefined): Promise<LivePartition> {
    const partition =
      partitions.find(name) ?? (await waitAtMost(partitions.load(name), { ms: embeddedLimits.loadMs, signal }));
    const deadline = performance.now() + embeddedLimits.followMs;
    while (partition.appliedThrough < reflects) {
      const left = deadline - performance.now();
      if (left <= 0) throw new SearchUnavailableError('behind');
      const before = partition.appliedThrough;
      await waitAtMost(follow(partition), { ms: left, signal });
      if (partition.appliedThrough === before) await wait(Math.min(pauseMs, left), signal ?? neverAborted);
    }
    return partition;
  }

  async function rank(partition: LivePartition, visible: VisibleRows, leg: Leg, window: number) {
    const { rows } = partition;
    const ranked =
      leg.kind === 'bm25'
        ? await rankByTerms(rows, visible, { terms: leg.terms, window }, turns)
        : await rankByVector(rows, visible, { vector: leg.vector, window }, { vectors, turns });
    return ranked.map(({ row, score }): Candidate => ({ id: rows.ids[row] as string, score }));
  }

  async function candidates(query: CandidateQuery, signal?: AbortSignal): Promise<readonly (readonly Candidate[])[]> {
    const partition = await reflecting(query.partition, query.reflects, signal);
    using _pin = partition.pin();
    const visible = partition.rows.visible(query.labels, query.condition);
    const rankings: (readonly Candidate[])[] = [];
    for (const leg of query.legs) {
      signal?.throwIfAborted();
      rankings.push(await rank(partition, visible, leg, query.window));
    }
    return rankings;
  }

  return {
    candidates,
    async write() {
      // The source is what this engine answers from.
    },
    async drop(name) {
      partitions.remove(name);
    },
    async refresh(name) {
      const partition = partitions.peek(name);
      if (partition !== undefined) await follow(partition).catch(() => undefined);
    },
    appliedThrough: (name) => partitions.peek(name)?.appliedThrough,
    bytes: () => partitions.bytes,
    async [Symbol.asyncDispose]() {
      partitions.removeAll();
    },
  };
}
