import { keepLease } from '#kit/concurrency/keep-lease';
import { startWorkLoop, type WorkLoop } from '#kit/concurrency/work-loop';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';
import { ModelsError } from '#models/models-error';
import { SearchUnavailableError } from '#search/search-error';
import { SqlUnavailableError } from '#sql/connect';
import { StoredTextError } from '../facts/guard-stored.ts';
import { IndexFullError } from '../people/index-room.ts';
import {
  abandonEvent,
  type ClaimedEvent,
  claimEvent,
  failEvent,
  mostClaims,
  releaseEvent,
  renewEventLease,
  returnEvent,
} from './claim-event.ts';
import { ChangedMemoryError, EventFault } from './event-fault.ts';
import { type EventPorts, processEvent } from './process-event.ts';

/**
 * `failed`: the add cannot succeed; `index_full`: the memories of its user fill the index; `exhausted`: the add could
 * succeed, but for too many attempts a dependency was unavailable or a worker died.
 */
export type EventEnd =
  | 'succeeded'
  | 'failed'
  | 'index_full'
  | 'exhausted'
  | 'claim_over'
  | 'released'
  | 'returned'
  | 'abandoned';

type RunOptions = {
  readonly logger: Logger;
  /** Number of concurrent events; the events of one person are processed one after another. */
  readonly concurrency: number;
  readonly leaseMs: number;
  /** How often the table is polled without a notification, milliseconds. */
  readonly pollMs: number;
  readonly onEnded: (end: EventEnd) => void;
  /** Called with the error of an attempt that did not succeed. */
  readonly onFailed: (error: unknown) => void;
};

/**
 * Processes events until it is disposed: after a notification, after an event, and at an interval, so that no event is
 * lost with a notification.
 */
export function runEvents(ports: EventPorts, options: RunOptions): WorkLoop {
  return startWorkLoop(async (signal) => {
    try {
      const event = await claimEvent(ports.database.sql, options.leaseMs);
      if (event === undefined) return false;
      const end = await attempt(ports, event, { ...options, signal });
      options.onEnded(end);
      // A dependency that was unavailable for one event is also unavailable for the next event.
      return end !== 'released' && end !== 'abandoned';
    } catch (error) {
      options.logger.warn('memory_worker_failed', { failure: describeFailure(error) });
      return false;
    }
  }, options);
}

async function attempt(
  ports: EventPorts,
  event: ClaimedEvent,
  { logger, leaseMs, onFailed, signal }: RunOptions & { readonly signal: AbortSignal },
): Promise<EventEnd> {
  const { sql } = ports.database;
  using lease = keepLease(() => renewEventLease(sql, event, leaseMs), leaseMs, signal);
  ports.onStep('claimed');
  try {
    if (!(await processEvent(ports, event, lease.signal))) return 'claim_over';
    ports.onStep('committed');
    return 'succeeded';
  } catch (error) {
    const isOver = lease.signal.aborted && !signal.aborted;
    // The error is counted first, because the end cannot be recorded while the database is unavailable.
    if (!signal.aborted) onFailed(error);
    const record = () => recordEnd(ports, event, error, signal);
    const end = isOver ? 'claim_over' : await recordWithin(leaseMs, lease.signal, record);
    if (end === 'released') ports.onStep('released');
    const failure = describeFailure(error);
    logger.info('memory_event_ended', { event: event.eventId, attempt: event.attempt, end, failure });
    return end;
  }
}

/** Pause before the end of an attempt is recorded again, because the database was unavailable, milliseconds. */
const pauseMs = 1_000;

/**
 * Records the end of an attempt, again for the length of a lease while the database is unavailable and the claim lasts:
 * an attempt without a recorded end counts like the death of a worker. A renewal without an answer does not end the
 * claim, so that the length bounds it.
 */
async function recordWithin(longestMs: number, claim: AbortSignal, record: () => Promise<EventEnd>): Promise<EventEnd> {
  const until = performance.now() + longestMs;
  for (;;) {
    try {
      return await record();
    } catch (error) {
      const isOver = claim.aborted || performance.now() >= until;
      if (!(error instanceof SqlUnavailableError) || isOver) throw error;
      await wait(pauseMs, claim);
    }
  }
}

async function recordEnd(
  ports: EventPorts,
  event: ClaimedEvent,
  error: unknown,
  signal: AbortSignal,
): Promise<EventEnd> {
  const { sql } = ports.database;
  if (signal.aborted) {
    await returnEvent(sql, event);
    return 'returned';
  }
  const fault = faultOf(error, event.deliveries);
  if (fault !== undefined) {
    await failEvent(sql, event, fault);
    if (error instanceof IndexFullError) return 'index_full';
    // A model that gives no valid answer, or memories that change all the time, are no fault of the add.
    const isExhausted = error instanceof ModelsError ? error.code === 'invalid' : error instanceof ChangedMemoryError;
    return isExhausted ? 'exhausted' : 'failed';
  }
  const dependency = dependencyOfEvent(error);
  if (dependency === undefined) {
    await abandonEvent(sql, event);
    return 'abandoned';
  }
  const isCounted = error instanceof ModelsError && error.code === 'invalid';
  return (await releaseEvent(sql, event, dependency, isCounted)) ? 'exhausted' : 'released';
}

/** Why an event fails immediately; undefined if a later attempt may succeed. */
function faultOf(error: unknown, deliveries: number): string | undefined {
  if (error instanceof EventFault || error instanceof IndexFullError) return error.message;
  if (error instanceof ChangedMemoryError) {
    return deliveries < mostClaims ? undefined : `${error.message}: send them again with another Idempotency-Key`;
  }
  if (error instanceof StoredTextError) return error.code === 'unavailable' ? undefined : error.message;
  if (!(error instanceof ModelsError)) return undefined;
  if (error.code === 'denied') return 'the guardrail of the model gateway denied the text';
  if (error.code === 'refused') return 'the model gateway or the model does not accept the text';
  return error.code === 'invalid' && deliveries >= mostClaims ? 'the model gave no valid answer' : undefined;
}

function dependencyOfEvent(error: unknown): string | undefined {
  if (error instanceof ModelsError) return 'the model gateway';
  if (error instanceof StoredTextError) return 'the guardrail';
  if (error instanceof SearchUnavailableError) return 'the search index';
  return error instanceof SqlUnavailableError ? 'the database' : undefined;
}
