import { startWorkLoop, type WorkLoop } from '#kit/concurrency/work-loop';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { claimDeletion, claimJob } from '../jobs/claim-job.ts';
import { type AttemptEnd, attemptJob } from './attempt-job.ts';
import type { IngestPorts } from './ingest-ports.ts';

type WorkerOptions = {
  readonly logger: Logger;
  /** `all` includes deletions. */
  readonly jobs: 'all' | 'deletions';
  /** Number of concurrent jobs. */
  readonly concurrency: number;
  readonly leaseMs: number;
  /** How often the table is polled without a notification, milliseconds. */
  readonly pollMs: number;
  readonly onAttempt: (end: AttemptEnd) => void;
};

/**
 * Claims and processes jobs until it is disposed: after a notification, after a job, and at an interval, so that a
 * missed notification only delays a job. Disposing returns the jobs in progress without counting their deliveries.
 */
export function runWorker(ports: IngestPorts, options: WorkerOptions): WorkLoop {
  const { logger, leaseMs } = options;
  const claim = options.jobs === 'all' ? claimJob : claimDeletion;
  return startWorkLoop(async (signal) => {
    try {
      const job = await claim(ports.database.sql, leaseMs);
      if (job === undefined) return false;
      options.onAttempt(await attemptJob(ports, job, { logger, leaseMs, signal }));
      return true;
    } catch (error) {
      logger.warn('ingest_worker_failed', { failure: describeFailure(error) });
      return false;
    }
  }, options);
}
