import { type Backoff, createBackoff } from '#kit/time/backoff';
import type { Database } from '#sql/connect';
import { removeChunks } from '../remove-chunks.ts';

/** Documents whose chunks are removed together. */
const batch = 200;

type Uncleared = { readonly collectionId: string; readonly version: number };

export type ClearPorts = {
  readonly database: Database;
  /** Removes the entries of a version from the search index. */
  readonly dropPartition: (collectionId: string, version: number) => Promise<void>;
  /**
   * This time is longer than any query, because a query that began before the switch keeps reading the version with
   * which it began.
   */
  readonly graceMs: number;
  /** Called for each version that cannot be removed. */
  readonly onFailed: (version: Uncleared, error: unknown) => void;
  /** The current time, monotonic milliseconds. */
  readonly now: () => number;
};

/** Shortest and longest pause before the removal of a version is repeated, milliseconds. */
const pauses = { firstMs: 5_000, maxMs: 300_000 } as const;

/** A version that could not be removed, and the time of the next attempt. */
type Paused = { readonly backoff: Backoff; until: number };

/**
 * Returns a function that removes failed versions, and retired versions once the queries that began before the switch
 * have ended. It returns the number of removed versions. Removing a version is retried after a growing pause, and a
 * version that cannot be removed does not delay others.
 */
export function versionClearer(ports: ClearPorts): (signal: AbortSignal) => Promise<number> {
  let paused: ReadonlyMap<string, Paused> = new Map();
  const { now } = ports;

  return async (signal) => {
    const versions = await readUncleared(ports);
    const found = new Map(versions.map((version) => [`${version.collectionId}/${version.version}`, version]));
    const left = new Map([...paused].filter(([key]) => found.has(key)));
    paused = left;
    let cleared = 0;
    for (const [key, version] of found) {
      if (signal.aborted) break;
      const pause = left.get(key);
      if (pause !== undefined && now() < pause.until) continue;
      try {
        await clear(ports, version);
        cleared += 1;
      } catch (error) {
        ports.onFailed(version, error);
        const backoff = pause?.backoff ?? createBackoff({ ...pauses, resetAfterMs: Number.POSITIVE_INFINITY, now });
        left.set(key, { backoff, until: now() + backoff.next() });
      }
    }
    return cleared;
  };
}

async function readUncleared({ database: { sql }, graceMs }: ClearPorts): Promise<readonly Uncleared[]> {
  return sql<Uncleared[]>`
    select collection_id as "collectionId", number as version from retrieval.index_versions
    where state in ('retired', 'failed') and not cleared
      and ended_at <= clock_timestamp() - ${graceMs} * interval '1 millisecond'
    order by ended_at`;
}

async function clear({ database, dropPartition }: ClearPorts, { collectionId, version }: Uncleared): Promise<void> {
  await clearChunksOf(database, { collectionId, version });
  await dropPartition(collectionId, version);
  await database.sql`
    update retrieval.index_versions set cleared = true where collection_id = ${collectionId} and number = ${version}`;
}

async function clearChunksOf({ sql }: Database, { collectionId, version }: Uncleared): Promise<void> {
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const rows: readonly { readonly doc: string }[] = await sql<{ doc: string }[]>`
      select doc from retrieval.documents where collection_id = ${collectionId} and doc > ${after}
      order by doc limit ${batch}`;
    after = rows.at(-1)?.doc;
    if (after === undefined) return;
    const docs = rows.map(({ doc }) => doc);
    await removeChunks(sql, docs, version);
    await sql`delete from retrieval.indexed_documents where doc in ${sql(docs)} and version = ${version}`;
  }
}
