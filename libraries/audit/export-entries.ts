import { startWorkLoop } from '#kit/concurrency/work-loop';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { createBackoff } from '#kit/time/backoff';
import type { Clock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import type { AuditReceiver, ExportPosition } from './ports.ts';

/** Times in milliseconds. */
export type ExportTimes = {
  /** How often the log is read for new entries, milliseconds. */
  readonly pollMs: number;
  /** Longest time without deliveries after the process that delivered was killed; longer than a delivery and its backoff. */
  readonly leaseMs: number;
  readonly firstBackoffMs: number;
  readonly mostBackoffMs: number;
};

const exportTimes: ExportTimes = {
  pollMs: 1_000,
  leaseMs: 60_000,
  firstBackoffMs: 500,
  mostBackoffMs: 30_000,
};

/** Maximum number of entries of one delivery. */
export const exportBatch = 100;

/**
 * Delivers the entries of a chain to a receiver, each at least once and in order: the position moves after the receiver
 * has stored them, so that after the death of a process the last delivery is repeated. Of all replicas, one process
 * delivers. A failed delivery is retried with growing backoff until it succeeds, and no command waits for it.
 */
export function startExport(options: {
  readonly receiver: AuditReceiver;
  readonly position: ExportPosition;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onStored: (entries: number) => void;
  readonly onFailed: () => void;
  readonly times?: Partial<ExportTimes>;
}): AsyncDisposable {
  const { receiver, position, clock, logger, onStored, onFailed } = options;
  const times = { ...exportTimes, ...options.times };
  const backoff = createBackoff({
    firstMs: times.firstBackoffMs,
    maxMs: times.mostBackoffMs,
    resetAfterMs: Number.POSITIVE_INFINITY,
    now: clock.now,
  });
  // A position before the retained entries stays there until the next delivery: one log line is enough.
  let reportedRemoved = 0;

  async function deliver(signal: AbortSignal): Promise<boolean> {
    const at = await position.claim(times.leaseMs);
    if (at === undefined) return false;
    if (at.removed > 0 && at.number !== reportedRemoved) {
      reportedRemoved = at.number;
      logger.error('audit_export_missed', { receiver: receiver.name, entries: at.removed });
    }
    const entries = await position.after(at.number, exportBatch);
    const last = entries.at(-1);
    if (last === undefined) return false;
    const delivery = await receiver.send(entries, signal);
    if (delivery.kind === 'stored') {
      await position.advance(at.number, last.number);
      backoff.reset();
      onStored(entries.length);
      return true;
    }
    if (signal.aborted) return false;
    onFailed();
    logger.warn('audit_export_failed', { receiver: receiver.name, reason: delivery.reason });
    await wait(Math.min(times.mostBackoffMs, Math.max(backoff.next(), delivery.retryAfterMs)), signal);
    return true;
  }

  async function step(signal: AbortSignal): Promise<boolean> {
    try {
      return await deliver(signal);
    } catch (error) {
      logger.warn('audit_export_delayed', { receiver: receiver.name, failure: describeFailure(error) });
      return false;
    }
  }

  const loop = startWorkLoop(step, { pollMs: times.pollMs });
  return {
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]();
      await position.release().catch(() => undefined);
    },
  };
}
