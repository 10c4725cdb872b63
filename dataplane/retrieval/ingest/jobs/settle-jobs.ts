import { ObjectsUnavailableError } from '#objects/objects-error';
import type { ObjectStore } from '#objects/ports';
import type { Database, Sql } from '#sql/connect';
import { removeSomeChunks } from '../remove-chunks.ts';
import { retryPause } from './retry-pause.ts';

type SettlePorts = {
  readonly database: Database;
  readonly objects: ObjectStore;
  readonly onStep: (step: 'removed' | 'unstaged' | 'settled') => void | Promise<void>;
};

/**
 * How long the staged original of a FAILED job is kept for a replay, days. The original of a denied document is not
 * kept.
 */
const failedOriginalDays = 7;

/** Number of jobs that one round settles, and of settled jobs that lose their labels. */
const batch = 100;
const labelledAtOnce = 500;

/**
 * Removes the remains of a DONE job: the chunks that the document no longer shows, and the staged originals of this job
 * and of the jobs that it superseded. These include FAILED jobs, whose replay can never take effect. A repeated call
 * changes nothing.
 */
export async function settleJob(ports: SettlePorts, jobId: string): Promise<void> {
  const { sql } = ports.database;
  const rows = await sql<EndedJob[]>`
    select o.job_id as "jobId", o.payload_key as "payloadKey", o.doc
    from retrieval.jobs j join retrieval.jobs o on o.doc = j.doc and o.seq <= j.seq
    where j.job_id = ${jobId} and not o.settled
      and (o.status = 'DONE' or o.status = 'FAILED' and j.status = 'DONE' and o.seq < j.seq)`;
  for (const row of rows) await settle(ports, row);
}

/** Removes the remains of a denied job: its staged original and its chunks. A repeated call changes nothing. */
export async function settleDenied(ports: SettlePorts, jobId: string): Promise<void> {
  const rows = await ports.database.sql<EndedJob[]>`
    select job_id as "jobId", payload_key as "payloadKey", doc from retrieval.jobs
    where job_id = ${jobId} and status = 'FAILED' and failure_code = 'denied' and not settled`;
  for (const row of rows) await settle(ports, row);
}

/**
 * Settles ended jobs whose worker died before it settled them, and jobs whose original has been kept long enough. A job
 * that cannot be settled is tried again by a later call, and does not delay other jobs.
 */
export async function settleJobs(ports: SettlePorts, onFailed: (error: unknown) => void): Promise<void> {
  const rows = await ports.database.sql<EndedJob[]>`
    select job_id as "jobId", payload_key as "payloadKey", doc from retrieval.jobs
    where not settled and (retry_at is null or retry_at <= clock_timestamp()) and (
      status = 'DONE' and updated_at < clock_timestamp() - interval '10 seconds'
      or status = 'FAILED' and (failure_code = 'denied' or exists (
          select from retrieval.documents d where d.doc = jobs.doc and d.live_seq > jobs.seq)
        or updated_at < clock_timestamp() - ${failedOriginalDays} * interval '1 day'))
    order by updated_at limit ${batch}`;
  await forgetLabels(ports.database.sql);
  for (const row of rows) {
    try {
      await settle(ports, row);
    } catch (error) {
      onFailed(error);
      if (!(error instanceof ObjectsUnavailableError)) continue;
      // The next call begins with another job: the store may be available for all other originals.
      await delay(ports.database.sql, row);
      // The store may refuse every other original, too, each after the time of a timeout.
      return;
    }
  }
}

/** Labels name persons and groups: jobs that an earlier release settled still have theirs. */
async function forgetLabels(sql: Sql): Promise<void> {
  await sql`
    update retrieval.jobs set labels = '{}' where job_id in (
      select job_id from retrieval.jobs where settled and labels <> '{}' limit ${labelledAtOnce} for update skip locked)`;
}

async function delay(sql: Sql, { jobId }: EndedJob): Promise<void> {
  await sql`
    update retrieval.jobs
    set retry_at = clock_timestamp() + ${retryPause(sql, sql`clock_timestamp() - updated_at`)}
    where job_id = ${jobId} and not settled and status in ('DONE', 'FAILED')`;
}

type EndedJob = { readonly jobId: string; readonly payloadKey: string | null; readonly doc: string };

async function settle(
  { database: { sql }, objects, onStep }: SettlePorts,
  { jobId, payloadKey, doc }: EndedJob,
): Promise<void> {
  // From this statement on the job cannot be replayed: its next attempt would need the original and keep the chunks
  // that it finds.
  const ended = await sql`
    update retrieval.jobs set staged = false where job_id = ${jobId} and status in ('DONE', 'FAILED') returning job_id`;
  if (ended.length === 0) return;
  while (await removeSomeChunks(sql, replacedChunks(sql, jobId, doc)));
  await onStep('removed');
  if (payloadKey !== null) await objects.delete(payloadKey);
  await onStep('unstaged');
  await sql`
    update retrieval.jobs set settled = true, retry_at = null, labels = '{}'
    where job_id = ${jobId} and status in ('DONE', 'FAILED')`;
  await onStep('settled');
}

/** Chunks of open jobs have no smaller sequence number than live_seq, and chunks of a FAILED job are not live. */
function replacedChunks(sql: Sql, jobId: string, doc: string) {
  return sql`
    select c.ctid from retrieval.documents d join retrieval.chunks c on c.doc = d.doc and c.seq < d.live_seq
    where d.doc = ${doc}
    union all
    select c.ctid from retrieval.jobs j join retrieval.documents d on d.doc = j.doc
    join retrieval.chunks c on c.doc = d.doc and c.seq = j.seq
    where j.job_id = ${jobId} and j.status = 'FAILED' and j.seq > d.live_seq`;
}
