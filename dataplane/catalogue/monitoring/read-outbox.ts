import type { Sql } from '#sql/connect';

/** Events of the outbox that are not delivered. */
export type OutboxState = {
  /** Events that are neither delivered nor parked. */
  readonly open: number;
  /** How long the oldest open event has waited since it happened or since a replay, seconds; 0 without open events. */
  readonly oldestSeconds: number;
  readonly parked: number;
};

/**
 * Reads the state of the outbox. Two indexes answer the statement, however many events were delivered. @throws
 * SqlUnavailableError
 */
export async function readOutbox(sql: Sql): Promise<OutboxState> {
  const [row] = await sql<OutboxState[]>`
    select count(*)::int as open,
      coalesce(extract(epoch from clock_timestamp() - min(open_since)), 0)::float8 as "oldestSeconds",
      (select count(*)::int from catalogue.outbox where parked_at is not null and delivered_at is null) as parked
    from catalogue.outbox where delivered_at is null and parked_at is null`;
  return row ?? { open: 0, oldestSeconds: 0, parked: 0 };
}
