import { z } from 'zod';
import type { Connection } from '#search/adapters/opensearch/connect-opensearch';
import type { OpenSearchIndex } from '#search/adapters/opensearch/opensearch-index';
import { SearchUnavailableError } from '#search/search-error';
import type { OpenSearchPlaces } from './opensearch-places.ts';
import { partitionName } from './partition-name.ts';

/** Longer than a process can still write to a partition that it found before the partition was left, milliseconds. */
const lateMs = 900_000;

type UpkeepParts = {
  readonly index: Pick<OpenSearchIndex, 'drop' | 'removeFrom'>;
  readonly places: OpenSearchPlaces;
  readonly connection: Pick<Connection, 'ask'>;
  /** Beginning of the names of indices. */
  readonly prefix: string;
};

const healthy = z.object({ status: z.enum(['green', 'yellow']), timed_out: z.literal(false) });

/** What else a process does with OpenSearch: it asks for its health and removes what is not used any more. */
export function openSearchUpkeep({ index, places, connection, prefix }: UpkeepParts) {
  return {
    /** Whether every index of this installation has a shard that answers; rejects otherwise. */
    async answers(): Promise<void> {
      const path = `/_cluster/health/${prefix}-*`;
      const { status, body } = await connection.ask({ method: 'GET', path, parameters: { timeout: '1s' } });
      if (status !== 200 || !healthy.safeParse(body).success) throw new SearchUnavailableError('unreachable');
    },
    /** Removes the entries of a version; rejects if OpenSearch is away, and is then repeated. */
    async dropPartition(collectionId: string, version: number): Promise<void> {
      const name = partitionName({ collectionId, version });
      await index.drop(name);
      await places.leave(name);
    },
    /** Removes what processes that were late brought to places that were left. */
    async clearLeft(): Promise<void> {
      for (const left of await places.leftFor(lateMs)) {
        await index.removeFrom(left.place, left.partition);
        await places.forget(left);
      }
    },
  };
}
