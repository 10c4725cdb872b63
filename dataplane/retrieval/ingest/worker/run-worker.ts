import { createNap } from '#kit/concurrency/nap';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';
import { claimJob } from '../jobs/claim-job.ts';
import { type AttemptEnd, attemptJob } from './attempt-job.ts';
import type { IngestPorts } from './ingest-ports.ts';

type WorkerOptions = {
  readonly logger: Logger;
  /** Jobs at a time. */
  readonly concurrency: number;
  readonly leaseMs: number;
  /** How often the table is looked at without a hint, milliseconds. */
  readonly pollMs: number;
  readonly onAttempt: (end: AttemptEnd) => void;
};

export type Worker = AsyncDisposable & {
  /** There may be work. */
  wake(): void;
};

/**
 * Claims and processes jobs until it is disposed: on a hint, after a job, and at an interval, so that a lost hint delays a job
 * and loses none. Disposing returns the jobs in hand without counting their deliveries.
 */
export function runWorker(ports: IngestPorts, options: WorkerOptions): Worker {
  const { logger, leaseMs, pollMs } = options;
  const stop = new AbortController();
  const nap = createNap();

  async function next(): Promise<boolean> {
    try {
      const job = await claimJob(ports.database.sql, leaseMs);
      if (job === undefined) return false;
      options.onAttempt(await attemptJob(ports, job, { logger, leaseMs, signal: stop.signal }));
      return true;
    } catch (error) {
      logger.warn('ingest_worker_failed', { failure: describeFailure(error) });
      return false;
    }
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      const { signal } = nap;
      if (!(await next()) && !stop.signal.aborted) await wait(pollMs, signal);
    }
  }

  const running = Promise.all(Array.from({ length: options.concurrency }, run));
  return {
    wake: nap.end,
    async [Symbol.asyncDispose]() {
      stop.abort();
      nap.end();
      await running;
    },
  };
}
