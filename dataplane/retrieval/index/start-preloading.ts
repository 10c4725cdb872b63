import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { keepSubscribed } from '#queue/keep-subscribed';
import type { HintQueue } from '#queue/ports';
import type { Database, Sql } from '#sql/connect';
import { partitionName } from './partition-name.ts';

/** An index that keeps partitions in the memory of its replica. */
export type PreloadedIndex = {
  /** The newest change that the partition contains; undefined if the partition is not in memory. */
  appliedThrough(partition: string): bigint | undefined;
  /** Loads a partition if it fits into memory with those already loaded; false if it does not. */
  preload(partition: string, signal: AbortSignal): Promise<boolean>;
};

type PreloadOptions = {
  readonly database: Database;
  readonly index: PreloadedIndex;
  readonly queue: HintQueue;
  readonly logger: Logger;
  /** UUID of this replica. */
  readonly replica: string;
};

type Prepared = { readonly collectionId: string; readonly version: number; readonly activeVersion: number };

/** Topic of hints that a building version is complete. */
const preparedTopic = 'prepared_versions';
/** How long a switch waits for a replica that does not renew its row, and the interval of renewals, milliseconds. */
const lease = { lastsMs: 5_000, renewMs: 1_500 } as const;
/** Pause between two attempts to subscribe, milliseconds. */
const resubscribeMs = 15_000;

/**
 * Publishes a hint that a version is complete. Never throws: without the hint, the first query after the switch loads
 * the version.
 */
export function preparedHints(queue: HintQueue, logger: Logger): () => void {
  return () => {
    queue
      .publish(preparedTopic)
      .catch((error) => logger.warn('prepared_hint_lost', { failure: describeFailure(error) }));
  };
}

/**
 * Loads complete versions of the collections that this replica serves. The switch at the end of a reindex waits for
 * this load. A version that does not fit into the remaining memory is loaded by its first query. Neither the queue nor
 * the index is disposed.
 */
export function startPreloading({ database: { sql }, index, queue, logger, replica }: PreloadOptions): AsyncDisposable {
  const stop = new AbortController();
  let isHinted = false;
  let running: Promise<void> | undefined;

  async function preload({ collectionId, version }: Prepared): Promise<void> {
    const renew = (): Promise<unknown> => holdSwitch(sql, { collectionId, version, replica });
    await renew();
    // A failed renewal only ends the wait of the switch.
    const timer = setInterval(() => void renew().catch(() => undefined), lease.renewMs);
    try {
      const isLoaded = await index.preload(partitionName({ collectionId, version }), stop.signal);
      logger.info('version_preloaded', { collection: collectionId, version, isLoaded });
    } finally {
      clearInterval(timer);
      await sql`
        delete from retrieval.preloads
        where collection_id = ${collectionId} and version = ${version} and replica = ${replica}`;
    }
  }

  async function look(): Promise<void> {
    const prepared = (await readPrepared(sql)).filter(({ collectionId, version, activeVersion }) => {
      const isServed = index.appliedThrough(partitionName({ collectionId, version: activeVersion })) !== undefined;
      return isServed && index.appliedThrough(partitionName({ collectionId, version })) === undefined;
    });
    for (const one of prepared) if (!stop.signal.aborted) await preload(one);
  }

  async function run(): Promise<void> {
    while (isHinted && !stop.signal.aborted) {
      isHinted = false;
      await look().catch((error) => logger.warn('preload_failed', { failure: describeFailure(error) }));
    }
    running = undefined;
  }

  const subscription = keepSubscribed(queue, preparedTopic, {
    onHint() {
      isHinted = true;
      running ??= run();
    },
    onAway: (failure) => logger.warn('preload_queue_unavailable', { failure }),
    everyMs: resubscribeMs,
  });
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await subscription[Symbol.asyncDispose]();
      await running;
    },
  };
}

/** Building versions that contain every live document. */
function readPrepared(sql: Sql): Promise<readonly Prepared[]> {
  return sql<Prepared[]>`
    select v.collection_id as "collectionId", v.number as version, c.active_version as "activeVersion"
    from retrieval.index_versions v join retrieval.collections c using (collection_id)
    where v.state = 'building' and v.complete_since is not null and c.status <> 'deleted'`;
}

/** Makes the switch wait for this replica; after the switch the call has no effect. */
function holdSwitch(
  sql: Sql,
  { collectionId, version, replica }: { collectionId: string; version: number; replica: string },
): Promise<unknown> {
  return sql`
    insert into retrieval.preloads (collection_id, version, replica, expires_at)
    select collection_id, number, ${replica}, clock_timestamp() + ${lease.lastsMs} * interval '1 millisecond'
    from retrieval.index_versions where collection_id = ${collectionId} and number = ${version} and state = 'building'
    on conflict (collection_id, version, replica) do update set expires_at = excluded.expires_at`;
}
