import type { Database } from '#sql/connect';

/** Work that waits in the tables of the installation. */
export type Backlog = {
  /** Jobs that are neither DONE nor FAILED. */
  readonly open: number;
  /** Age of the oldest waiting job, seconds; 0 if none is waiting. */
  readonly oldestSeconds: number;
  /** Jobs that are not retried until they are replayed. */
  readonly deadLetters: number;
  /** Longest time since a worker was due to build a version, or since a dependency of the build became unavailable, seconds. */
  readonly reindexWaitingSeconds: number;
  /** Collections whose newest reindex has failed. */
  readonly failedReindexes: number;
  /** Rules whose detector or classifier does not judge, so that jobs or builds wait. */
  readonly failingProviders: number;
};

/** Maximum number of waiting jobs whose failure is read, so that a backlog of any length is read in bounded time. */
const mostSeen = 10_000;

/** @throws SqlUnavailableError */
export async function readBacklog({ sql }: Database): Promise<Backlog> {
  const [row] = await sql<Backlog[]>`
    select count(*)::int as open,
      coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as "oldestSeconds",
      (select count(*)::int from retrieval.jobs where dead_lettered_at is not null) as "deadLetters",
      (select coalesce(greatest(0, extract(epoch from clock_timestamp() - min(least(due_at, unavailable_since)))), 0)::float8
        from retrieval.index_versions where state = 'building') as "reindexWaitingSeconds",
      (select count(*)::int from retrieval.index_versions v join retrieval.collections c using (collection_id)
        where v.state = 'failed' and c.status <> 'deleted' and not exists (
          select from retrieval.index_versions n where n.collection_id = v.collection_id and n.number > v.number)
      ) as "failedReindexes",
      (select count(distinct failing_provider)::int from (
        (select failing_provider from retrieval.jobs
          where failing_provider is not null and status in ('PENDING', 'RUNNING') limit ${mostSeen})
        union all
        (select failing_provider from retrieval.index_versions
          where failing_provider is not null and state = 'building' limit ${mostSeen})) f) as "failingProviders"
    from retrieval.jobs
    where status in ('PENDING', 'RUNNING')`;
  return (
    row ?? {
      open: 0,
      oldestSeconds: 0,
      deadLetters: 0,
      reindexWaitingSeconds: 0,
      failedReindexes: 0,
      failingProviders: 0,
    }
  );
}
