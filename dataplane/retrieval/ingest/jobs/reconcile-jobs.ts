import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { createBackoff } from '#kit/time/backoff';
import { wait } from '#kit/time/wait';
import type { ObjectStore } from '#objects/ports';
import type { Database } from '#sql/connect';
import { collectStaging } from './collect-staging.ts';
import { buryJobs } from './dead-letters.ts';
import { settleJobs } from './settle-jobs.ts';

type ReconcilePorts = {
  readonly database: Database;
  readonly objects: ObjectStore;
  readonly logger: Logger;
  /** Publishes the hint of new work again. */
  readonly hint: () => void;
  /**
   * Each function removes the remains of deleted objects, such as collections. It ends soon after its signal is
   * aborted.
   */
  readonly removals: readonly ((signal: AbortSignal) => Promise<unknown>)[];
  readonly onRemovalFailed: (error: unknown) => void;
  readonly now: () => Date;
  readonly everyMs: number;
};

/**
 * How often the staging folder is searched for orphaned objects, milliseconds; after a failure the next search is
 * earlier.
 */
const collectMs = 3_600_000;

/**
 * Repairs the effects of lost hints, killed workers and ended submits at an interval: publishes a hint for due jobs
 * (`retrieval:job-state:lost-notification`), makes jobs without remaining deliveries dead letters, and removes the
 * remains of ended jobs and deleted collections.
 */
export function startReconciling(ports: ReconcilePorts): AsyncDisposable {
  const stop = new AbortController();

  /** An unavailable store delays its own removals only. */
  function failed(error: unknown): void {
    ports.onRemovalFailed(error);
    ports.logger.warn('ingest_removal_failed', { failure: describeFailure(error) });
  }

  async function round(): Promise<void> {
    const buried = await buryJobs(ports.database.sql);
    if (buried > 0) ports.logger.warn('ingest_jobs_dead_lettered', { count: buried });
    if (await isWorkDue(ports.database)) ports.hint();
    await settleJobs({ ...ports, onStep: () => undefined }, failed);
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      await round().catch((error) => ports.logger.warn('ingest_reconcile_failed', { failure: describeFailure(error) }));
      await wait(ports.everyMs, stop.signal);
    }
  }

  /** Apart from the rounds and from each other: an index that does not answer delays its own removals only. */
  async function runRemoval(remove: ReconcilePorts['removals'][number]): Promise<void> {
    while (!stop.signal.aborted) {
      await remove(stop.signal).catch(failed);
      await wait(ports.everyMs, stop.signal);
    }
  }

  /**
   * This runs separately from the other rounds, so that a store that refuses many deletions slowly does not delay them.
   */
  async function collect(): Promise<void> {
    const pauses = { firstMs: ports.everyMs, maxMs: collectMs, resetAfterMs: Number.POSITIVE_INFINITY };
    const backoff = createBackoff({ ...pauses, now: () => 0 });
    while (!stop.signal.aborted) {
      const isComplete = await collectOnce();
      if (isComplete) backoff.reset();
      await wait(isComplete ? collectMs : backoff.next(), stop.signal);
    }
  }

  /** Returns whether nothing failed. Each failure is counted, and one log line reports all failures together. */
  async function collectOnce(): Promise<boolean> {
    let count = 0;
    let failure: string | undefined;
    const onFailed = (error: unknown): void => {
      count += 1;
      failure ??= describeFailure(error);
      ports.onRemovalFailed(error);
    };
    await collectStaging(ports, { now: ports.now(), onFailed, signal: stop.signal }).catch(onFailed);
    if (count > 0) ports.logger.warn('ingest_staging_left', { count, failure });
    return count === 0;
  }

  const running = Promise.all([run(), collect(), ...ports.removals.map(runRemoval)]);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

async function isWorkDue({ sql }: Database): Promise<boolean> {
  const rows = await sql`
    select 1 from retrieval.jobs where status in ('PENDING', 'RUNNING') and due_at <= clock_timestamp() limit 1`;
  return rows.length > 0;
}
