import { startWorkLoop, type WorkLoop } from '#kit/concurrency/work-loop';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Database, Sql } from '#sql/connect';
import type { CloudEvent, DeliveryOutcome, EventReceiver } from './ports.ts';

/** An event that waits for its delivery. */
type OpenEvent = {
  readonly event_id: string;
  readonly agent_id: string;
  readonly event_no: string;
  readonly type: string;
  readonly version_id: string | null;
  readonly occurred_at: Date;
  readonly attempts: number;
  readonly refusals: number;
  readonly replays: number;
};

export type RelayEnd = 'delivered' | 'failed' | 'parked';

type RelayOptions = {
  readonly database: Pick<Database, 'sql'>;
  readonly receiver: EventReceiver;
  /** `source` of the events: a URI that names the installation. */
  readonly source: string;
  readonly logger: Logger;
  readonly onEnd: (end: RelayEnd) => void;
  readonly pollMs: number;
  /** The pause after the first failed attempt, seconds; it doubles after each further failure, up to five minutes. */
  readonly firstPauseSeconds: number;
};

/** Maximum number of agents whose oldest event is delivered in one pass. */
const batch = 100;
/** Refusals after which an event is parked; failures are repeated without an end. */
const mostRefusals = 10;
/** Longest pause between two attempts, seconds. */
const mostSeconds = 300;
/** How long an event is kept after it happened, and a parked event after it was parked. */
const kept = '7 days';
/** Digits of the largest number of an event, a bigint. */
const sequenceDigits = 19;
const typePrefix = 'dev.portcullis.catalogue.';

/**
 * Delivers the events of the outbox at least once and in the order of each agent: an event is sent when every earlier one of
 * its agent is delivered or parked. A failure delays the events of one agent only. Several relays may run: each sends the
 * events of an agent in their order, so that a receiver that drops repeated ids sees that order.
 */
export function relayEvents(options: RelayOptions): WorkLoop {
  const { database, logger, pollMs } = options;
  return startWorkLoop(
    async (signal) => {
      try {
        return await relayBatch(options, signal);
      } catch (error) {
        if (!signal.aborted) logger.warn('relay_failed', { failure: describeFailure(error) });
        return false;
      } finally {
        await database.sql`
          delete from catalogue.outbox where occurred_at < clock_timestamp() - ${kept}::interval
            and (delivered_at is not null or parked_at < clock_timestamp() - ${kept}::interval)`.catch(() => undefined);
      }
    },
    { pollMs },
  );
}

/** Deletes old events in an installation without a receiver, so that the outbox does not grow without limit. */
export function forgetEvents({
  database,
  logger,
  pollMs,
}: Pick<RelayOptions, 'database' | 'logger' | 'pollMs'>): WorkLoop {
  return startWorkLoop(
    async () => {
      try {
        await database.sql`delete from catalogue.outbox where occurred_at < clock_timestamp() - ${kept}::interval`;
      } catch (error) {
        logger.warn('relay_failed', { failure: describeFailure(error) });
      }
      return false;
    },
    { pollMs },
  );
}

/** @returns whether any event was delivered or parked, so that another event may be due */
async function relayBatch(
  { database, receiver, source, onEnd, firstPauseSeconds }: RelayOptions,
  signal: AbortSignal,
): Promise<boolean> {
  // The events that have waited longest are delivered first, so that agents whose deliveries fail do not delay the
  // others.
  const due = await database.sql<OpenEvent[]>`
    select * from (
      select distinct on (agent_id) event_id, agent_id, event_no, type, version_id, occurred_at, attempts, refusals,
        replays, next_attempt_at
      from catalogue.outbox where delivered_at is null and parked_at is null order by agent_id, event_no
    ) as oldest
    where next_attempt_at <= clock_timestamp() order by next_attempt_at, event_id limit ${batch}`;
  let isMoved = false;
  for (const event of due) {
    if (signal.aborted) return false;
    const outcome = await receiver.deliver(cloudEventOf(event, source), signal);
    const end = await settle(database.sql, event, outcome, firstPauseSeconds);
    onEnd(end);
    isMoved ||= end !== 'failed';
  }
  return isMoved;
}

/**
 * Stores the result of a delivery, unless a replay began meanwhile: then the event is sent again after the earlier
 * ones.
 */
async function settle(
  sql: Sql,
  { event_id: id, attempts, refusals, replays }: OpenEvent,
  outcome: DeliveryOutcome,
  firstSeconds: number,
): Promise<RelayEnd> {
  const same = sql`event_id = ${id}::uuid and replays = ${replays}`;
  if (outcome === 'delivered') {
    await sql`update catalogue.outbox set delivered_at = clock_timestamp() where ${same}`;
    return 'delivered';
  }
  if (outcome === 'refused' && refusals + 1 >= mostRefusals) {
    // Another relay may have delivered this event in the meantime.
    await sql`
      update catalogue.outbox set parked_at = clock_timestamp() where ${same} and delivered_at is null`;
    return 'parked';
  }
  const seconds = Math.min(firstSeconds * 2 ** Math.min(attempts, 16), mostSeconds);
  await sql`
    update catalogue.outbox set attempts = attempts + 1, refusals = refusals + ${outcome === 'refused' ? 1 : 0},
      next_attempt_at = clock_timestamp() + make_interval(secs => ${seconds})
    where ${same}`;
  return 'failed';
}

function cloudEventOf(event: OpenEvent, source: string): CloudEvent {
  return {
    specversion: '1.0',
    id: event.event_id,
    source,
    type: `${typePrefix}${event.type}`,
    subject: event.agent_id,
    time: event.occurred_at.toISOString(),
    datacontenttype: 'application/json',
    sequence: event.event_no.padStart(sequenceDigits, '0'),
    data: { agentId: event.agent_id, versionId: event.version_id },
  };
}
