import type { ObjectStore } from '#objects/ports';
import type { Database } from '#sql/connect';

type SettlePorts = {
  readonly database: Database;
  readonly objects: ObjectStore;
  readonly onStep: (step: 'removed' | 'unstaged' | 'settled') => void | Promise<void>;
};

/** How long the staged original of a FAILED job is kept for a replay, days. A denied one is not kept. */
const failedOriginalDays = 7;

/** Jobs that one round settles. */
const batch = 100;

/**
 * Removes the remains of an ended job: the chunks that the document no longer shows, and the staged originals of this
 * job and of those that it superseded. A repetition changes nothing.
 */
export async function settleJob(ports: SettlePorts, jobId: string): Promise<void> {
  const { sql } = ports.database;
  const rows = await sql<EndedJob[]>`
    select o.job_id as "jobId", o.payload_key as "payloadKey", o.doc
    from retrieval.jobs j join retrieval.jobs o on o.doc = j.doc and o.seq <= j.seq
    where j.job_id = ${jobId} and o.status = 'DONE' and not o.settled`;
  await settle(ports, rows);
}

/** Settles ended jobs whose worker died before it did so, and those whose original has been kept long enough. */
export async function settleJobs(ports: SettlePorts): Promise<number> {
  const rows = await ports.database.sql<EndedJob[]>`
    select job_id as "jobId", payload_key as "payloadKey", doc from retrieval.jobs
    where not settled and (
      status = 'DONE' and updated_at < clock_timestamp() - interval '10 seconds'
      or status = 'FAILED' and (failure_code = 'denied'
        or updated_at < clock_timestamp() - ${failedOriginalDays} * interval '1 day'))
    order by updated_at limit ${batch}`;
  await settle(ports, rows);
  return rows.length;
}

type EndedJob = { readonly jobId: string; readonly payloadKey: string | null; readonly doc: string };

async function settle({ database: { sql }, objects, onStep }: SettlePorts, jobs: readonly EndedJob[]): Promise<void> {
  for (const { jobId, payloadKey, doc } of jobs) {
    // Chunks of open jobs have no smaller sequence number than live_seq, and those of a FAILED job are not live.
    await sql`
      delete from retrieval.chunks c using retrieval.documents d, retrieval.jobs j
      where d.doc = ${doc} and c.doc = d.doc and j.job_id = ${jobId}
        and (c.seq < d.live_seq or (c.seq = j.seq and j.status = 'FAILED' and j.seq <> d.live_seq))`;
    await onStep('removed');
    if (payloadKey !== null) await objects.delete(payloadKey);
    await onStep('unstaged');
    await sql`
      update retrieval.jobs set settled = true, staged = false
      where job_id = ${jobId} and status in ('DONE', 'FAILED')`;
    await onStep('settled');
  }
}
