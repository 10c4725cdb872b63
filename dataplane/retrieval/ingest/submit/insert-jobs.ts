import type { TransactionSql } from '#sql/connect';
import type { EpochJob, JobIdentity, JobOp, SubmitDecision, SubmitState } from './decide-submit.ts';

export type StagedObject = { readonly key: string; readonly uri: string; readonly bytes: number };

/** An accepted document with all data that its job row contains. */
export type JobRecord = Omit<Extract<SubmitDecision, { kind: 'accept' }>, 'kind'> & {
  readonly document: JobIdentity & { readonly collection: string; readonly labels: readonly string[] };
  readonly staged: StagedObject | undefined;
};

const uuidType = 2950;

/**
 * Creates missing rows of documents and locks all of them in the order of their keys, so that two batches never
 * deadlock; reads the jobs that documents of the batch may repeat.
 */
export async function lockDocuments(
  sql: TransactionSql,
  tenant: string,
  documents: readonly JobIdentity[],
): Promise<{ readonly stateOf: (document: JobIdentity) => SubmitState; readonly jobs: readonly EpochJob[] }> {
  const keys = sql`
    select distinct collection_id, doc_id from unnest(
      ${sql.array(
        documents.map((one) => one.collectionId),
        uuidType,
      )}::uuid[],
      ${sql.array(documents.map((one) => one.docId))}::text[]
    ) as k (collection_id, doc_id)`;
  await sql`
    insert into retrieval.documents (tenant, collection_id, doc_id)
    select ${tenant}, collection_id, doc_id from (${keys}) k order by collection_id, doc_id
    on conflict (collection_id, doc_id) do nothing`;
  const rows = await sql<LockedRow[]>`
    select d.doc, d.collection_id, d.doc_id, d.last_seq::float8 as last_seq, d.last_op, d.op_epoch::float8 as op_epoch
    from retrieval.documents d join (${keys}) k using (collection_id, doc_id)
    order by d.collection_id, d.doc_id for no key update of d`;
  const states = new Map(
    rows.map((row) => [
      rowKey(row.collection_id, row.doc_id),
      { doc: row.doc, lastSeq: row.last_seq, lastOp: row.last_op, opEpoch: row.op_epoch },
    ]),
  );
  const jobs = await sql<EpochJob[]>`
    select j.doc, j.job_id as "jobId", j.seq::float8 as seq, j.content_hash as "contentHash", j.idempotency_key as "idempotencyKey"
    from retrieval.jobs j join retrieval.documents d on d.doc = j.doc and d.op_epoch = j.op_epoch
    where d.doc in ${sql([...states.values()].map(({ doc }) => doc))}
      and j.idempotency_key in ${sql([...new Set(documents.map((one) => one.idempotencyKey))])}`;
  return { stateOf: (one) => states.get(rowKey(one.collectionId, one.docId)) as SubmitState, jobs };
}

type LockedRow = {
  readonly doc: string;
  readonly collection_id: string;
  readonly doc_id: string;
  readonly last_seq: number;
  readonly last_op: JobOp | null;
  readonly op_epoch: number;
};

function rowKey(collectionId: string, docId: string): string {
  return `${collectionId}/${docId}`;
}

/** Rows per insert statement, well below the limit of 65,534 parameters. */
const rowsOfInsert = 1_000;

/** Writes the new states of the documents and their jobs, and moves new collections to `populating`. */
export async function insertJobs(
  sql: TransactionSql,
  origin: { readonly tenant: string; readonly traceId: string },
  records: readonly JobRecord[],
  states: readonly SubmitState[],
): Promise<void> {
  if (records.length === 0) return;
  await sql`
    update retrieval.documents d set last_seq = s.last_seq, last_op = s.last_op, op_epoch = s.op_epoch
    from json_to_recordset(${JSON.stringify(
      states.map((one) => ({ doc: one.doc, last_seq: one.lastSeq, last_op: one.lastOp, op_epoch: one.opEpoch })),
    )}::text::json) as s (doc bigint, last_seq bigint, last_op text, op_epoch bigint)
    where d.doc = s.doc`;
  for (let at = 0; at < records.length; at += rowsOfInsert) {
    const rows = records.slice(at, at + rowsOfInsert).map((record) => jobRow(origin, record));
    await sql`
      insert into retrieval.jobs (job_id, tenant, collection_id, collection, doc, doc_id, seq, op, op_epoch, content_hash,
        idempotency_key, labels, payload_key, payload_uri, payload_bytes, staged, trace_id)
      select job_id, tenant, collection_id, collection, doc, doc_id, seq, op, op_epoch, content_hash, idempotency_key,
        array(select json_array_elements_text(labels)), payload_key, payload_uri, payload_bytes, payload_key is not null,
        trace_id
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (job_id uuid, tenant text, collection_id uuid,
        collection text, doc bigint, doc_id text, seq bigint, op text, op_epoch bigint, content_hash text,
        idempotency_key text, labels json, payload_key text, payload_uri text, payload_bytes bigint, trace_id text)`;
  }
  const collections = sql([...new Set(records.map(({ document }) => document.collectionId))]);
  await sql`
    update retrieval.collections set status = 'populating', updated_at = clock_timestamp()
    where collection_id in (
      select collection_id from retrieval.collections
      where collection_id in ${collections} and status = 'created'
      order by collection_id for no key update)`;
}

function jobRow({ tenant, traceId }: { readonly tenant: string; readonly traceId: string }, record: JobRecord): object {
  const { document, staged } = record;
  return {
    job_id: record.jobId,
    tenant,
    collection_id: document.collectionId,
    collection: document.collection,
    doc: record.doc,
    doc_id: document.docId,
    seq: record.seq,
    op: document.op,
    op_epoch: record.epoch,
    content_hash: document.contentHash,
    idempotency_key: document.idempotencyKey,
    labels: document.labels,
    payload_key: staged?.key ?? null,
    payload_uri: staged?.uri ?? null,
    payload_bytes: staged?.bytes ?? null,
    trace_id: traceId,
  };
}
