import { keepLease } from '#kit/concurrency/keep-lease';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { DocumentFault } from '../faults.ts';
import { type ClaimedJob, renewLease } from '../jobs/claim-job.ts';
import { abandonJob, failJob, releaseJob, returnJob } from '../jobs/end-attempt.ts';
import { settleDenied } from '../jobs/settle-jobs.ts';
import { dependencyOf, failingProviderIn } from './dependency-of.ts';
import type { IngestPorts } from './ingest-ports.ts';
import { processJob } from './process-job.ts';
import { watchProgress } from './watch-progress.ts';

type AttemptOptions = { readonly logger: Logger; readonly leaseMs: number; readonly signal: AbortSignal };

/** The outcome of an attempt, for metrics. */
export type AttemptEnd = 'done' | 'claim_over' | 'failed' | 'released' | 'abandoned' | 'returned';

/**
 * Processes a claimed job under its lease and records the outcome. If the outcome cannot be recorded because the
 * database is unavailable, the lease expires and another delivery follows.
 */
export async function attemptJob(ports: IngestPorts, job: ClaimedJob, options: AttemptOptions): Promise<AttemptEnd> {
  const { leaseMs, signal } = options;
  const watched = watchProgress(ports);
  using lease = keepLease(() => renewLease(ports.database.sql, job, leaseMs), leaseMs, signal);
  try {
    return await processJob(watched.ports, job, lease.signal);
  } catch (error) {
    const failure = { error, hasProgress: watched.hasProgress() };
    const end = lease.signal.aborted && !signal.aborted ? 'claim_over' : await recordEnd(ports, job, failure, options);
    options.logger.info('ingest_attempt_ended', {
      job: job.jobId,
      attempt: job.attempt,
      end,
      failure: describeFailure(error),
    });
    return end;
  }
}

async function recordEnd(
  ports: IngestPorts,
  job: ClaimedJob,
  { error, hasProgress }: { readonly error: unknown; readonly hasProgress: boolean },
  { signal, logger }: AttemptOptions,
): Promise<AttemptEnd> {
  const { sql } = ports.database;
  if (signal.aborted) {
    await returnJob(sql, job);
    return 'returned';
  }
  if (error instanceof DocumentFault) {
    if (!(await failJob(sql, job, error))) return 'claim_over';
    await ports.onStep('failed');
    if (error.code === 'denied') {
      await settleDenied(ports, job.jobId).catch((fault: unknown) =>
        logger.warn('ingest_removal_failed', { failure: describeFailure(fault) }),
      );
    }
    return 'failed';
  }
  const dependency = dependencyOf(error);
  if (dependency !== undefined) {
    ports.onUnavailable(dependency);
    await releaseJob(sql, job, { dependency, failing: failingProviderIn(error), hasProgress });
    await ports.onStep('released');
    return 'released';
  }
  await abandonJob(sql, job);
  return 'abandoned';
}
