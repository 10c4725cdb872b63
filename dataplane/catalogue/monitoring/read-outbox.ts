import type { Sql } from '#sql/connect';

/** Events of the outbox that are not delivered. */
export type OutboxState = {
  /** Events that are neither delivered nor parked. */
  readonly open: number;
  /** For how long the first of them has waited, since it happened or since a replay, seconds; 0 without one. */
  readonly oldestSeconds: number;
  readonly parked: number;
};

/** @throws SqlUnavailableError */
export async function readOutbox(sql: Sql): Promise<OutboxState> {
  const [row] = await sql<OutboxState[]>`
    select count(*) filter (where parked_at is null)::int as open,
      coalesce(extract(epoch from clock_timestamp() - min(open_since) filter (where parked_at is null)), 0)::float8
        as "oldestSeconds",
      count(*) filter (where parked_at is not null)::int as parked
    from catalogue.outbox where delivered_at is null`;
  return row ?? { open: 0, oldestSeconds: 0, parked: 0 };
}
