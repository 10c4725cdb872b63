import type { Sql } from '#sql/connect';

/** Events of the outbox that are not delivered. */
export type OutboxState = {
  /** Events that are neither delivered nor parked. */
  readonly open: number;
  /** For how long the first of them has waited, since it happened or since a replay, seconds; 0 without one. */
  readonly oldestSeconds: number;
  readonly parked: number;
};

/** Two indexes answer it, whatever was delivered. @throws SqlUnavailableError */
export async function readOutbox(sql: Sql): Promise<OutboxState> {
  const [row] = await sql<OutboxState[]>`
    select count(*)::int as open,
      coalesce(extract(epoch from clock_timestamp() - min(open_since)), 0)::float8 as "oldestSeconds",
      (select count(*)::int from catalogue.outbox where parked_at is not null and delivered_at is null) as parked
    from catalogue.outbox where delivered_at is null and parked_at is null`;
  return row ?? { open: 0, oldestSeconds: 0, parked: 0 };
}
