import type { Database } from '#sql/connect';

/** Work that waits in the tables of the installation. */
export type EventBacklog = {
  /** Events that are neither SUCCEEDED nor FAILED. */
  readonly open: number;
  /** Age of the oldest waiting event, seconds; 0 if none is waiting. */
  readonly oldestSeconds: number;
  /**
   * Live memories that have had no vector for `missingMinutes` after their last change, at most `mostCounted`; 0
   * without a profile, because then no memory needs a vector.
   */
  readonly unembedded: number;
  /** Live memories whose next attempt at a vector is delayed, because the last attempt returned an invalid one. */
  readonly delayed: number;
};

/** Maximum number of memories that are counted: each scrape reads no more rows of an index than this. */
export const mostCounted = 10_000;

/** How long a memory may wait for a vector before it is counted: the worker needs some time for a new memory. */
const missingMinutes = 60;

/**
 * Reads partial indexes only, in their order and to a bound, so that the cost of a scrape does not depend on the number of
 * memories.
 * @throws SqlUnavailableError
 */
export async function readEventBacklog({ sql }: Database, hasProfile: boolean): Promise<EventBacklog> {
  const most = hasProfile ? mostCounted : 0;
  const [row] = await sql<EventBacklog[]>`
    select count(*)::int as open,
      coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as "oldestSeconds",
      (select count(*)::int from (
        select updated_at from memory.memories where deleted_at is null and vector is null
        order by memory_id limit ${most}) m
        where updated_at <= clock_timestamp() - ${missingMinutes} * interval '1 minute') as unembedded,
      (select count(*)::int from (
        select from memory.memories where deleted_at is null and embed_failures > 0
        order by memory_id limit ${most}) m) as delayed
    from memory.events where status in ('PENDING', 'RUNNING')`;
  return row ?? { open: 0, oldestSeconds: 0, unembedded: 0, delayed: 0 };
}
