import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
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
  /** Each one removes the remains of deleted objects, such as collections. */
  readonly removals: readonly (() => Promise<unknown>)[];
  readonly onRemovalFailed: (error: unknown) => void;
  readonly now: () => Date;
  readonly everyMs: number;
};

/** How often the staging folder is searched for orphans, milliseconds. */
const collectMs = 3_600_000;

/**
 * Repairs the effects of lost hints, killed workers and ended submits at an interval: publishes a hint for due jobs
 * (`retrieval:job-state:lost-notification`), makes jobs without remaining deliveries dead letters, and removes the
 * remains of ended jobs and deleted collections.
 */
export function startReconciling(ports: ReconcilePorts): AsyncDisposable {
  const stop = new AbortController();
  let collectedAt = Number.NEGATIVE_INFINITY;

  /** An unavailable store delays its own removals only. */
  function failed(error: unknown): void {
    ports.onRemovalFailed(error);
    ports.logger.warn('ingest_removal_failed', { failure: describeFailure(error) });
  }

  async function round(): Promise<void> {
    const buried = await buryJobs(ports.database.sql);
    if (buried > 0) ports.logger.warn('ingest_jobs_dead_lettered', { count: buried });
    if (await isWorkDue(ports.database)) ports.hint();
    for (const remove of ports.removals) await remove().catch(failed);
    await settleJobs({ ...ports, onStep: () => undefined }, failed);
    const now = ports.now();
    if (now.getTime() - collectedAt < collectMs) return;
    await collectStaging(ports, now);
    collectedAt = now.getTime();
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      await round().catch((error) => ports.logger.warn('ingest_reconcile_failed', { failure: describeFailure(error) }));
      await wait(ports.everyMs, stop.signal);
    }
  }

  const running = run();
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
