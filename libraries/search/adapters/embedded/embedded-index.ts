import { Turns } from '#kit/concurrency/turns';
import { catchUp, queryWaits } from '../../catch-up.ts';
import type { Candidate, CandidateQuery, Leg, PartitionSource, SearchIndex } from '../../ports.ts';
import { SearchUnavailableError } from '../../search-error.ts';
import { waitAtMost } from '../../wait-at-most.ts';
import type { LivePartition } from './live-partition.ts';
import { LoadedPartitions } from './loaded-partitions.ts';
import type { VisibleRows } from './partition-rows.ts';
import { rankByTerms } from './rank-by-terms.ts';
import { rankByVector } from './rank-by-vector.ts';
import { VectorMemory } from './vector-memory.ts';

type EmbeddedOptions = {
  readonly source: PartitionSource;
  /** Estimated bytes of all loaded partitions together; a larger partition is not served. */
  readonly mostBytes: number;
  /** Time after which a partition that was too large is read again, milliseconds; 300,000 when absent. */
  readonly refusedMs?: number;
};

type EmbeddedIndex = SearchIndex & {
  /**
   * Loads a partition ahead of its first query, if it fits into memory with those already loaded. No other partition is
   * evicted for this.
   * @returns whether the partition is in memory, or is being loaded
   * @throws SearchUnavailableError
   */
  preload(partition: string, signal: AbortSignal): Promise<boolean>;
  /** Applies committed changes to a loaded partition, so that the next query does not have to; never rejects. */
  refresh(partition: string): Promise<void>;
  /** The names of the partitions in memory. */
  loaded(): readonly string[];
  /** The number of the newest applied change; undefined if the partition is not in memory. */
  appliedThrough(partition: string): bigint | undefined;
  /** Estimated bytes of the partitions in memory. */
  bytes(): number;
};

/**
 * The index in the memory of this process: BM25 and exact vectors. A partition is read from its source by the first
 * query; every query reads the changes that it must reflect and are not applied yet.
 */
export function openEmbeddedIndex({ source, mostBytes, refusedMs }: EmbeddedOptions): EmbeddedIndex {
  const vectors = new VectorMemory();
  const turns = new Turns();
  const partitions = new LoadedPartitions({ source, vectors, turns, mostBytes, refusedMs });

  async function follow(partition: LivePartition): Promise<void> {
    await partition.follow();
    partitions.settle(partition);
  }

  /** Calls `use` with the partition, loaded and up to date, which stays in memory until its promise has settled. */
  async function withPartition<T>(
    { partition: name, reflects }: CandidateQuery,
    signal: AbortSignal | undefined,
    use: (partition: LivePartition) => Promise<T>,
  ): Promise<T> {
    const start = performance.now();
    for (;;) {
      const partition = partitions.find(name);
      if (partition === undefined) {
        await waitAtMost(partitions.load(name), { ms: start + queryWaits.loadMs - performance.now(), signal });
        continue;
      }
      using _pin = partition.pin();
      await catchUp(partition, reflects, () => follow(partition), signal);
      if (!partition.isRetired) return await use(partition);
    }
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
    return withPartition(query, signal, async (partition) => {
      const visible = await partition.rows.visible(query.labels, query.condition, turns);
      const rankings: (readonly Candidate[])[] = [];
      for (const leg of query.legs) {
        signal?.throwIfAborted();
        rankings.push(await rank(partition, visible, leg, query.window));
      }
      return rankings;
    });
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
    async preload(name, signal) {
      try {
        return await partitions.preload(name, signal);
      } catch (error) {
        throw error instanceof SearchUnavailableError ? error : new SearchUnavailableError('unreachable', error);
      }
    },
    async refresh(name) {
      const partition = partitions.peek(name);
      if (partition !== undefined) await follow(partition).catch(() => undefined);
    },
    loaded: () => partitions.names(),
    appliedThrough: (name) => partitions.peek(name)?.appliedThrough,
    bytes: () => partitions.bytes,
    async [Symbol.asyncDispose]() {
      partitions.removeAll();
    },
  };
}
