import type { Database } from '#sql/connect';

/** Work that waits in the tables of the installation. */
export type EventBacklog = {
  /** Events that are neither SUCCEEDED nor FAILED. */
  readonly open: number;
  /** Age of the oldest of them, seconds; 0 without one. */
  readonly oldestSeconds: number;
  /** Live memories without a vector. */
  readonly unembedded: number;
  /** Live memories whose next vector is delayed, because an invalid one came before. */
  readonly delayed: number;
};

/** @throws SqlUnavailableError */
export async function readEventBacklog({ sql }: Database): Promise<EventBacklog> {
  const [row] = await sql<EventBacklog[]>`
    select count(*)::int as open,
      coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as "oldestSeconds",
      (select count(*)::int from memory.memories where deleted_at is null and vector is null) as unembedded,
      (select count(*)::int from memory.memories where deleted_at is null and embed_failures > 0) as delayed
    from memory.events where status in ('PENDING', 'RUNNING')`;
  return row ?? { open: 0, oldestSeconds: 0, unembedded: 0, delayed: 0 };
}
