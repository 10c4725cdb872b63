import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { keepSubscribed } from '#queue/keep-subscribed';
import type { HintQueue } from '#queue/ports';
import { startReconciling } from '../jobs/reconcile-jobs.ts';
import { runReindexer } from '../reindex/run-reindexer.ts';
import type { AttemptEnd } from '../worker/attempt-job.ts';
import type { IngestPorts } from '../worker/ingest-ports.ts';
import { runWorker } from '../worker/run-worker.ts';

/** Topic of hints about new jobs and reindexes. */
const jobsTopic = 'ingest_jobs';

type IngestOptions = {
  readonly logger: Logger;
  readonly queue: HintQueue;
  /** Called when a hint is lost, or the queue cannot be subscribed: tables are then read at an interval. */
  readonly onQueueAway: () => void;
  /** Number of concurrent jobs. */
  readonly concurrency: number;
  readonly onAttempt: (end: AttemptEnd) => void;
  /** Removes the entries of a version from the search index. */
  readonly dropPartition: (collectionId: string, version: number) => Promise<void>;
  /** Each function completes unfinished work: of deleted objects such as collections, or of processes that died. */
  readonly removals: readonly ((signal: AbortSignal) => Promise<unknown>)[];
  /** Called after a failed removal, including the removal of an old version; the removal is repeated. */
  readonly onRemovalFailed: (error: unknown) => void;
  readonly times: IngestTimes;
};

/** Times of ingest, milliseconds. */
export type IngestTimes = {
  /** Longest time that a job waits for the next delivery after its worker died. */
  readonly leaseMs: number;
  /** How often workers poll the tables without a notification. */
  readonly pollMs: number;
  /** How often the worker searches for missed notifications, dead letters and leftovers. */
  readonly reconcileMs: number;
  /**
   * How long a retired version is kept for queries that began before the switch; a query that takes longer is repeated.
   */
  readonly graceMs: number;
};

export const ingestTimes: IngestTimes = { leaseMs: 60_000, pollMs: 5_000, reconcileMs: 15_000, graceMs: 120_000 };

/** Publishes a hint. Never throws: reconciliation finds the jobs of a lost hint. */
export function jobHints({ queue, logger, onQueueAway }: HintTools): () => void {
  return () => {
    queue.publish(jobsTopic).catch((error) => {
      onQueueAway();
      logger.warn('ingest_hint_lost', { failure: describeFailure(error) });
    });
  };
}

type HintTools = Pick<IngestOptions, 'queue' | 'logger' | 'onQueueAway'>;

/**
 * Runs the worker role until it is disposed: jobs, reindexes and reconciliation. Neither the queue nor the ports are
 * disposed.
 */
export function startIngest(ports: IngestPorts, options: IngestOptions): AsyncDisposable {
  const { logger, queue, times } = options;
  const parts = new AsyncDisposableStack();
  const worker = parts.use(runWorker(ports, { ...options, ...times, jobs: 'all' }));
  // A deletion needs no text and no vectors: it does not wait until a fetch or an embedding has ended.
  const deletions = parts.use(runWorker(ports, { ...options, ...times, jobs: 'deletions', concurrency: 1 }));
  const reindexer = parts.use(runReindexer(ports, { ...options, ...times }));
  parts.use(
    startReconciling({
      ...ports,
      logger,
      hint: jobHints(options),
      removals: options.removals,
      onRemovalFailed: options.onRemovalFailed,
      now: () => new Date(),
      everyMs: times.reconcileMs,
    }),
  );
  const wake = (): void => {
    worker.wake();
    deletions.wake();
    reindexer.wake();
  };
  parts.use(
    keepSubscribed(queue, jobsTopic, {
      onHint: wake,
      onAway(failure) {
        options.onQueueAway();
        logger.warn('ingest_queue_unavailable', { failure });
      },
      everyMs: times.reconcileMs,
    }),
  );
  return parts;
}
