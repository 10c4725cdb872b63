import { z } from 'zod';
import type { Connection } from '#search/adapters/opensearch/connect-opensearch';
import type { OpenSearchIndex } from '#search/adapters/opensearch/opensearch-index';
import { SearchUnavailableError } from '#search/search-error';
import type { OpenSearchPlaces } from './opensearch-places.ts';
import { partitionName } from './partition-name.ts';

/**
 * This time, in milliseconds, is longer than a process can keep writing to a partition that it found before the
 * partition was left.
 */
const lateMs = 900_000;

/** Maximum number of partitions in one call, because each may have many changes. */
const followedAtOnce = 50;

type UpkeepParts = {
  readonly index: Pick<OpenSearchIndex, 'drop' | 'removeFrom' | 'refresh' | 'appliedThrough'>;
  readonly places: OpenSearchPlaces;
  readonly connection: Pick<Connection, 'ask'>;
  /** Prefix of the index names. */
  readonly prefix: string;
};

const healthy = z.object({ status: z.enum(['green', 'yellow']), timed_out: z.literal(false) });

/** Maintenance of OpenSearch: checks its health and removes entries that are no longer used. */
export function openSearchUpkeep({ index, places, connection, prefix }: UpkeepParts) {
  return {
    /** Resolves if every index of this installation has a shard that answers; rejects otherwise. */
    async answers(): Promise<void> {
      const path = `/_cluster/health/${prefix}-*`;
      const { status, body } = await connection.ask({ method: 'GET', path, parameters: { timeout: '1s' } });
      if (status !== 200 || !healthy.safeParse(body).success) throw new SearchUnavailableError('unreachable');
    },
    /** Removes the entries of a version. Rejects if OpenSearch is unavailable; the caller then repeats the call. */
    async dropPartition(collectionId: string, version: number): Promise<void> {
      const name = partitionName({ collectionId, version });
      await index.drop(name);
      await places.leave(name);
    },
    /**
     * Applies committed changes to the places of collections without queries: a deleted document is removed from
     * OpenSearch without a query. The call ends at the first partition that cannot be updated, because OpenSearch may
     * not answer for other partitions either, and each attempt takes the time of a timeout. A later call begins with
     * another partition.
     * @param signal ends the call before the next partition, and while one is being updated
     */
    async followChanges(signal: AbortSignal): Promise<void> {
      for (const { partition, newest } of await places.behind(followedAtOnce)) {
        if (signal.aborted) return;
        await endedOrStopped(index.refresh(partition), signal);
        const through = index.appliedThrough(partition);
        if (signal.aborted || through === undefined || through < newest) return;
        await places.follow(partition, through);
      }
    },
    /**
     * Removes entries that late processes wrote to abandoned places.
     * @param signal ends the call before the next place, and while one is being emptied
     */
    async clearLeft(signal: AbortSignal): Promise<void> {
      for (const left of await places.leftFor(lateMs)) {
        if (signal.aborted) return;
        await endedOrStopped(index.removeFrom(left.place, left.partition), signal);
        if (signal.aborted) return;
        await places.forget(left);
      }
    },
  };
}

/**
 * Waits for a call that has no separate signal, or for the end of the signal. A failure after that end is not reported.
 */
async function endedOrStopped(call: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const stopped = Promise.withResolvers<void>();
  const stop = (): void => stopped.resolve();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([call, stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
    if (signal.aborted) call.catch(() => undefined);
  }
}
