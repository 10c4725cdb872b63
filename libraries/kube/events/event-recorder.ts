import { createTokenBuckets } from '#kit/concurrency/token-bucket';
import type { Logger } from '#kit/log/logger';
import { type Clock, systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import type { Stored } from '#resources/metadata';
import { preconditionTests } from '../apply/apply.ts';
import { builtinKinds } from '../client/builtin-kinds.ts';
import type { Event } from '../client/builtin-types.ts';
import type { KubeClient } from '../client/client.ts';
import { isKubeError } from '../client/kube-error.ts';
import { type EventFact, eventObject, type Reporter, seriesOf } from './event-object.ts';

export type { EventFact } from './event-object.ts';

export type EventRecorder = AsyncDisposable & {
  /** Queues an event and returns immediately; the caller does not learn whether it was written. */
  record(fact: EventFact): void;
  counts(): EventCounts;
};

/** Events since the start: written to the server, dropped by a limit, dropped after failed attempts. */
type EventCounts = { readonly written: number; readonly limited: number; readonly failed: number };

export type EventRecorderOptions = Reporter & {
  readonly client: Pick<KubeClient, 'namespace' | 'create' | 'patch'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly clock?: Clock;
  /** First backoff after a failed write, in milliseconds; doubles with each failure; 1,000 when absent. */
  readonly firstBackoffMs?: number;
};

/** Events with the same object, reason and note within this time are one series. */
const seriesMs = 600_000;
/** How often the count of a continuing series of events is written. */
const seriesEveryMs = 60_000;
const maxSeries = 1_000;
const maxQueued = 500;
/** Rate limit of new events for one object, as in client-go: first a burst, then one event every five minutes. */
const burst = 25;
const refillMs = 300_000;
const maxAttempts = 3;
const drainMs = 1_000;

type EventSeries = {
  readonly fact: EventFact;
  stored: Stored<Event> | undefined;
  count: number;
  writtenCount: number;
  lastAt: number;
  lastDate: Date;
  writtenAt: number;
};

/** A recorder that drops every event, for the standalone operator, which serves no events. */
export const silentRecorder: EventRecorder = {
  record() {},
  counts: () => ({ written: 0, limited: 0, failed: 0 }),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/**
 * Writes Events (events.k8s.io/v1). Repeated events are counted in a series. Memory, queue and the rate for an object are
 * bounded; events above a bound are dropped. Disposing writes the queued events for up to a second.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, logger, clock = systemClock, firstBackoffMs = 1_000 } = options;
  const series = new Map<string, EventSeries>();
  const queue = new Set<EventSeries>();
  const buckets = createTokenBuckets({ burst, refillMs, maxKeys: maxSeries, now: clock.now });
  const stop = new AbortController();
  const counts = { written: 0, limited: 0, failed: 0 };
  let working: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function record(fact: EventFact): void {
    if (isClosed) return;
    const key = keyOf(fact);
    const now = clock.now();
    const known = series.get(key);
    if (known !== undefined && now - known.lastAt < seriesMs) repeat(key, known, now);
    else begin(key, fact, now);
  }

  function begin(key: string, fact: EventFact, now: number): void {
    series.delete(key);
    if (queue.size >= maxQueued || !buckets.take(fact.regarding.metadata.uid)) {
      counts.limited += 1;
      return;
    }
    const lastDate = clock.date();
    const running = { fact, stored: undefined, count: 1, writtenCount: 0, lastAt: now, lastDate, writtenAt: now };
    series.set(key, running);
    const [oldest] = series.keys();
    if (series.size > maxSeries && oldest !== undefined) series.delete(oldest);
    enqueue(running);
  }

  function repeat(key: string, running: EventSeries, now: number): void {
    running.count += 1;
    running.lastAt = now;
    running.lastDate = clock.date();
    series.delete(key);
    series.set(key, running);
    if (running.count === 2 || now - running.writtenAt >= seriesEveryMs) enqueue(running);
    else timer ??= setTimeout(flush, seriesEveryMs).unref();
  }

  /** Queues every series whose count is not written yet. */
  function flush(): void {
    timer = undefined;
    for (const running of series.values()) if (running.count > running.writtenCount) enqueue(running);
  }

  function enqueue(running: EventSeries): void {
    if (queue.size >= maxQueued) return;
    queue.add(running);
    working ??= work().finally(() => {
      working = undefined;
    });
  }

  async function work(): Promise<void> {
    for (const running of queue) {
      queue.delete(running);
      await write(running);
    }
  }

  async function write(running: EventSeries): Promise<void> {
    for (let attempt = 1; !stop.signal.aborted; attempt += 1) {
      const { count } = running;
      try {
        running.stored = await send(running);
        running.writtenCount = count;
        running.writtenAt = clock.now();
        counts.written += 1;
        return;
      } catch (error) {
        // The Event has expired or was replaced: the series continues in a new Event.
        const isGone = isKubeError(error, 'not_found', 'precondition_failed', 'conflict');
        if (isGone) running.stored = undefined;
        if ((!isGone && !isRetryable(error)) || attempt === maxAttempts) return drop(error);
        await wait(firstBackoffMs * 2 ** (attempt - 1), stop.signal);
      }
    }
  }

  function send({ fact, stored, count, lastDate }: EventSeries): Promise<Stored<Event>> {
    const series = seriesOf(count, lastDate);
    if (stored === undefined) {
      const context = { namespace: client.namespace, at: lastDate, series };
      return client.create<Event>(builtinKinds.event, eventObject(fact, options, context));
    }
    const operations = [
      ...preconditionTests(stored, 'resourceVersion'),
      { op: 'add', path: '/series', value: series } as const,
    ];
    return client.patch<Event>(builtinKinds.event, stored.metadata.name, operations);
  }

  function drop(error: unknown): void {
    counts.failed += 1;
    logger.warn('event_not_written', { code: isKubeError(error) ? error.code : 'unexpected' });
  }

  return {
    record,
    counts: () => ({ ...counts }),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      clearTimeout(timer);
      flush();
      const drained = new AbortController();
      await Promise.race([working, wait(drainMs, drained.signal)]);
      drained.abort();
      stop.abort();
    },
  };
}

function keyOf({ regarding, type, reason, action, note }: EventFact): string {
  return JSON.stringify([regarding.metadata.uid, type, reason, action, note]);
}

function isRetryable(error: unknown): boolean {
  return isKubeError(error, 'network', 'unavailable', 'too_many_requests');
}
