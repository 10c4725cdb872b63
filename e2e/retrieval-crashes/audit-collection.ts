import type { Sql } from '#sql/connect';
import { crashDocument } from './crash-documents.ts';

type AuditedJob = {
  readonly job_id: string;
  readonly doc_id: string;
  readonly seq: number;
  readonly idempotency_key: string;
  readonly status: string;
  readonly failure_code: string | null;
  readonly settled: boolean;
};

type AuditedDocument = {
  readonly doc_id: string;
  readonly live_seq: number;
  readonly last_seq: number;
  readonly deleted: boolean;
  readonly text: string;
  readonly chunks: readonly { readonly start: number; readonly end: number; readonly text: string }[];
};

/**
 * Faults of a collection after every job has ended, one sentence each: lost submits, documents that do not show their
 * newest successful job, missing, repeated or leftover chunks, and counts that differ from the rows.
 */
export async function auditCollection(
  sql: Sql,
  collectionId: string,
  accepted: ReadonlyMap<number, string>,
): Promise<readonly string[]> {
  const jobs = await sql<AuditedJob[]>`
    select job_id, doc_id, seq::float8 as seq, idempotency_key, status, failure_code, settled from retrieval.jobs
    where collection_id = ${collectionId} order by doc_id, seq`;
  const documents = await sql<AuditedDocument[]>`
    select d.doc_id, d.live_seq::float8 as live_seq, d.last_seq::float8 as last_seq, d.deleted, d.text,
      coalesce((
        select json_agg(json_build_object('start', k.start_at, 'end', k.end_at, 'text', k.text) order by k.no)
        from retrieval.chunks k where k.doc = d.doc and k.seq = d.live_seq and k.version = c.active_version
      ), '[]') as chunks
    from retrieval.documents d join retrieval.collections c using (collection_id)
    where d.collection_id = ${collectionId} order by d.doc_id`;
  return [
    ...lostSubmits(jobs, accepted),
    ...jobs.flatMap(jobFaults),
    ...documents.flatMap((document) =>
      documentFaults(
        document,
        jobs.filter((job) => job.doc_id === document.doc_id),
      ),
    ),
    ...(await countFaults(sql, collectionId)),
  ];
}

function lostSubmits(jobs: readonly AuditedJob[], accepted: ReadonlyMap<number, string>): readonly string[] {
  const known = new Map(jobs.map((job) => [job.job_id, Number(job.idempotency_key)]));
  return [...accepted].flatMap(([n, jobId]) => (known.get(jobId) === n ? [] : [`submit ${n} is lost`]));
}

function jobFaults({ job_id, status, failure_code }: AuditedJob): readonly string[] {
  if (status === 'DONE' || (status === 'FAILED' && failure_code !== null)) return [];
  return [`job ${job_id} is ${status}`];
}

function documentFaults(document: AuditedDocument, jobs: readonly AuditedJob[]): readonly string[] {
  const faults: string[] = [];
  const name = document.doc_id;
  if (jobs.some((job, at) => job.seq !== at + 1) || jobs.length !== document.last_seq)
    faults.push(`${name} lacks a sequence number`);
  const newest = jobs.findLast(({ status }) => status === 'DONE');
  if (document.live_seq !== (newest?.seq ?? 0))
    faults.push(`${name} shows ${document.live_seq}, not ${newest?.seq ?? 0}`);
  const expected = newest === undefined ? undefined : crashDocument({ docId: name, n: Number(newest.idempotency_key) });
  const text = expected?.op === 'upsert' ? expected.text : '';
  if (document.text !== text || document.deleted !== (text === ''))
    faults.push(`${name} has another text than its newest job`);
  let reached = 0;
  for (const { start, end, text: part } of document.chunks) {
    if (start > reached || end <= reached || document.text.slice(start, end) !== part)
      faults.push(`${name} has wrong chunks`);
    reached = end;
  }
  if (reached !== text.length) faults.push(`${name} lacks chunks`);
  return faults;
}

async function countFaults(sql: Sql, collectionId: string): Promise<readonly string[]> {
  const [found] = await sql<Record<string, number>[]>`
    select c.doc_count, c.chunk_count,
      (select count(*) from retrieval.documents d where d.collection_id = c.collection_id and not d.deleted)::int as docs,
      (select count(*) from retrieval.chunks k join retrieval.documents d using (doc)
        where d.collection_id = c.collection_id and not d.deleted and k.seq = d.live_seq
          and k.version = c.active_version)::int as chunks,
      (select count(*) from retrieval.chunks k join retrieval.documents d using (doc)
        where d.collection_id = c.collection_id and (d.deleted or k.seq <> d.live_seq))::int as leftovers,
      (select count(*) from retrieval.jobs j
        where j.collection_id = c.collection_id and j.status = 'DONE' and (j.staged or not j.settled))::int as unsettled,
      (select coalesce(max(d.change_no), 0) from retrieval.documents d where d.collection_id = c.collection_id)::int
        as newest_change,
      c.change_no::int as change_no
    from retrieval.collections c where collection_id = ${collectionId}`;
  const { doc_count, chunk_count, docs, chunks, leftovers, unsettled, newest_change, change_no } = found ?? {};
  return [
    ...(doc_count === docs ? [] : [`doc_count is ${doc_count}, not ${docs}`]),
    ...(chunk_count === chunks ? [] : [`chunk_count is ${chunk_count}, not ${chunks}`]),
    ...(leftovers === 0 ? [] : [`${leftovers} chunks are left over`]),
    ...(unsettled === 0 ? [] : [`${unsettled} ended jobs are not settled`]),
    ...(newest_change === change_no ? [] : [`the newest change is ${newest_change}, not ${change_no}`]),
  ];
}
