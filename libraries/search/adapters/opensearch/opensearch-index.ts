import { z } from 'zod';
import { wait } from '#kit/time/wait';
import type { Candidate, CandidateQuery, PartitionSource, SearchIndex } from '../../ports.ts';
import { SearchUnavailableError } from '../../search-error.ts';
import { waitAtMost } from '../../wait-at-most.ts';
import type { Connection } from './connect-opensearch.ts';
import { keywordOf } from './encode-values.ts';
import { FollowedPartition } from './followed-partition.ts';
import { aliasOf, type IndexPlace, indexBehind, markOf, routingOf } from './index-layout.ts';
import { queryLimits, searchLegs } from './search-legs.ts';
import { deleteDocuments, refreshIndex, type WriteTarget } from './write-documents.ts';

/** Longest waits of a query, milliseconds; after them the query fails with SearchUnavailableError `behind`. */
const openSearchLimits = {
  /** Longest wait for the changes that a query must reflect. */
  followMs: 1_000,
  /**
   * Longest wait for a partition that is not in the index, because it is new or was lost. Its loading continues for
   * later queries.
   */
  loadMs: 10_000,
  /** A place is read again after this time: a failover of the database may have lost its newest changes. */
  placeMs: 60_000,
  /** Number of partitions whose state is kept in memory; the state of others is read from the index at each query. */
  known: 10_000,
} as const;

const preloadMs = 60_000;
/** Pause before the source is polled again for the awaited change, milliseconds. */
const pauseMs = 20;
const neverAborted = new AbortController().signal;

type OpenSearchOptions = {
  readonly connection: Connection;
  readonly source: PartitionSource;
  /**
   * Returns the place at which a partition is stored; undefined if there is no such partition. Rejects if the database
   * is unavailable.
   */
  readonly placeOf: (partition: string) => Promise<IndexPlace | undefined>;
  /** Longest waits of a query instead of 1 s and 10 s, and the time after which a place is read again. */
  readonly waits?: { readonly followMs: number; readonly loadMs: number; readonly placeMs: number };
};

export type OpenSearchIndex = SearchIndex & {
  /** Removes the entries of a partition at a place that it no longer uses. */
  removeFrom(place: IndexPlace, partition: string): Promise<void>;
  /** Loads a partition into the index before its first query; rejects if that is not possible within a minute. */
  preload(partition: string, signal: AbortSignal): Promise<boolean>;
  /** Applies committed changes to the index, so that the next query does not wait for them; never rejects. */
  refresh(partition: string): Promise<void>;
  /** The number of the newest change that is known to be in the index; undefined if it is not known. */
  appliedThrough(partition: string): bigint | undefined;
};

/**
 * The index in OpenSearch. The process that gets a query first updates it from the database; the next query loads
 * missing partitions again. The caller owns the connection.
 */
export function openOpenSearchIndex({
  connection,
  source,
  placeOf,
  waits = openSearchLimits,
}: OpenSearchOptions): OpenSearchIndex {
  const partitions = new Map<string, { readonly partition: FollowedPartition; readonly askedAt: number }>();

  async function find(name: string): Promise<FollowedPartition> {
    const askedAt = performance.now();
    const known = partitions.get(name);
    if (known !== undefined && askedAt - known.askedAt < waits.placeMs) return known.partition;
    const place = await placeOf(name);
    if (place === undefined) throw new SearchUnavailableError('absent');
    const present = partitions.get(name)?.partition;
    const isThere = present?.target.alias === aliasOf(place);
    const partition = isThere ? present : new FollowedPartition(name, place, { connection, source });
    partitions.set(name, { partition, askedAt });
    const [oldest] = partitions.keys();
    if (partitions.size > openSearchLimits.known && oldest !== undefined) partitions.delete(oldest);
    return partition;
  }

  async function follow(name: string, partition: FollowedPartition): Promise<void> {
    try {
      await partition.follow();
    } catch (error) {
      // The place may have changed, so that it is read again.
      if (partitions.get(name)?.partition === partition) partitions.delete(name);
      throw error;
    }
  }

  async function reflecting({ partition: name, reflects }: CandidateQuery, signal: AbortSignal | undefined) {
    const start = performance.now();
    const partition = await waitAtMost(find(name), { ms: waits.followMs, signal });
    for (;;) {
      const { appliedThrough } = partition;
      if (appliedThrough !== undefined && appliedThrough >= reflects) return partition;
      const longest = appliedThrough === undefined ? waits.loadMs : waits.followMs;
      const ms = start + longest - performance.now();
      await waitAtMost(follow(name, partition), { ms, signal });
      const isStill = (partition.appliedThrough ?? 0n) < reflects;
      if (isStill) await wait(Math.min(pauseMs, ms), signal ?? neverAborted);
    }
  }

  async function candidates(query: CandidateQuery, signal?: AbortSignal): Promise<readonly (readonly Candidate[])[]> {
    signal?.throwIfAborted();
    for (let tries = 1; ; tries += 1) {
      const partition = await reflecting(query, signal);
      const found = await searchLegs(partition.target, query, signal);
      const isReflected = found.every(({ appliedThrough }) => (appliedThrough ?? -1n) >= query.reflects);
      if (isReflected) return found.map(({ ranking }) => ranking);
      partition.distrust();
      if (tries === 1) await showWritten(partition.target);
      else throw new SearchUnavailableError('behind');
    }
  }

  async function drop(name: string): Promise<void> {
    let partition: FollowedPartition;
    try {
      partition = await find(name);
    } catch (error) {
      if (error instanceof SearchUnavailableError && error.fault === 'absent') return;
      throw new SearchUnavailableError('unreachable', error);
    }
    partitions.delete(name);
    await removePartition(partition.target);
  }

  return {
    mostCandidates: queryLimits.window,
    candidates,
    drop,
    removeFrom: (place, partition) =>
      removePartition({ connection, alias: aliasOf(place), routing: routingOf(partition), partition }),
    async preload(name, signal) {
      const partition = await find(name);
      await waitAtMost(follow(name, partition), { ms: preloadMs, signal });
      return true;
    },
    async write() {
      // This engine follows the changes of its source, so that this method does nothing.
    },
    async refresh(name) {
      await find(name)
        .then((partition) => follow(name, partition))
        .catch(() => undefined);
    },
    appliedThrough: (name) => partitions.get(name)?.partition.appliedThrough,
    async [Symbol.asyncDispose]() {
      partitions.clear();
    },
  };
}

/**
 * Another process has written the mark, and its refresh is still in progress. A missing index is not an error: a later
 * query creates it.
 */
async function showWritten(target: WriteTarget): Promise<void> {
  try {
    await refreshIndex(target);
  } catch (error) {
    if (!(error instanceof SearchUnavailableError) || error.fault !== 'absent') throw error;
  }
}

const counted = z.object({ count: z.number(), _shards: z.object({ failed: z.literal(0) }) });

/** Removes the entries of a partition and its mark, and an index that is empty then. */
async function removePartition(target: WriteTarget): Promise<void> {
  const { connection, alias, partition } = target;
  try {
    await refreshIndex(target);
    const own = [{ term: { partition: { value: keywordOf(partition) } } }, { ids: { values: [markOf(partition)] } }];
    await deleteDocuments(target, { bool: { should: own, minimum_should_match: 1 } });
    await refreshIndex(target);
  } catch (error) {
    if (error instanceof SearchUnavailableError && error.fault === 'absent') return;
    throw error;
  }
  const { status, body } = await connection.ask({ method: 'GET', path: `/${alias}/_count` });
  const answer = counted.safeParse(body);
  if (status !== 200 || !answer.success || answer.data.count > 0) return;
  // Another process that writes to this index meanwhile gets the error that it is missing, and creates and loads it
  // again.
  await connection.ask({ method: 'DELETE', path: `/${indexBehind(alias)}` });
}
