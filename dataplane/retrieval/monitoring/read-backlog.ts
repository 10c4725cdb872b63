import type { Database } from '#sql/connect';

/** Work that waits in the job table of the installation. */
export type Backlog = {
  /** Jobs that are neither DONE nor FAILED. */
  readonly open: number;
  /** Age of the oldest of them, seconds; 0 without one. */
  readonly oldestSeconds: number;
  /** Jobs that are not retried until they are replayed. */
  readonly deadLetters: number;
};

/** @throws SqlUnavailableError */
export async function readBacklog({ sql }: Database): Promise<Backlog> {
  const [row] = await sql<Backlog[]>`
    select count(*)::int as open,
      coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as "oldestSeconds",
      (select count(*)::int from retrieval.jobs where dead_lettered_at is not null) as "deadLetters"
    from retrieval.jobs
    where status in ('PENDING', 'RUNNING')`;
  return row ?? { open: 0, oldestSeconds: 0, deadLetters: 0 };
}
