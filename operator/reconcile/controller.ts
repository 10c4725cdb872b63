import type { Logger } from '#kit/log/logger';
import type { PassScheduler } from '#kube/queue/pass-scheduler';
import { createWorkQueue, type WorkQueue } from '#kube/queue/work-queue';
import { consequenceOf, outcomeOfError, type PassOutcome } from './outcome.ts';
import type { ControllerName, ReconcileMeter } from './reconcile-metrics.ts';

type ControllerOptions = {
  readonly name: ControllerName;
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<PassOutcome>;
  readonly concurrency: number;
  readonly logger: Logger;
  readonly meter: ReconcileMeter;
  /** The scheduler that the controllers of one process share; when absent, each controller has its own. */
  readonly scheduler?: PassScheduler;
};

/** Runs passes over keys, each after a trigger, a requested delay or an error. */
export function startController(options: ControllerOptions): WorkQueue {
  const { name, reconcile, concurrency, logger, meter, scheduler } = options;

  async function process(key: string, signal: AbortSignal): Promise<{ requeueAfterMs: number } | undefined> {
    const outcome = await attempt(key, signal);
    const { result, afterMs } = consequenceOf(outcome);
    meter.finished(name, result);
    return afterMs === undefined ? undefined : { requeueAfterMs: afterMs };
  }

  async function attempt(key: string, signal: AbortSignal): Promise<PassOutcome> {
    try {
      return await reconcile(key, signal);
    } catch (error) {
      const outcome = outcomeOfError(error);
      if (outcome.kind === 'raced') return outcome;
      meter.finished(name, 'error');
      if (outcome.reason === 'Unexpected') meter.surprised(name);
      throw error;
    }
  }

  const queue = createWorkQueue({
    process,
    concurrency,
    ...(scheduler === undefined ? {} : { scheduler }),
    onError(key, error, count) {
      const { reason } = faultOf(error);
      const kind = error instanceof Error ? error.name : 'unknown';
      logger.warn('reconcile_failed', { controller: name, key, reason, error: kind, attempt: count });
    },
    onDone: (_outcome, queuedSeconds, workedSeconds) => meter.measured(name, queuedSeconds, workedSeconds),
  });
  meter.watch(name, concurrency, () => queue.counts());
  return queue;
}

function faultOf(error: unknown): { readonly reason: string } {
  const outcome = outcomeOfError(error);
  return { reason: outcome.kind === 'broken' ? outcome.reason : outcome.kind };
}
