import { v7 as uuid } from 'uuid';
import type { Sql, TransactionSql } from '#sql/connect';
import { DocumentFault } from '../faults.ts';
import { maskingHash, maskingJob, maskingKey } from '../jobs/masking-job.ts';
import { insertJobs, type StagedObject } from '../submit/insert-jobs.ts';
import { stagedBytes, stagingKey } from '../submit/staged-document.ts';
import type { JudgedDocument } from '../text/guarded-texts.ts';
import type { IngestPorts } from '../worker/ingest-ports.ts';

export type ReplacedText = {
  readonly tenant: string;
  readonly collectionId: string;
  /** The version that is being built. */
  readonly version: number;
  readonly doc: string;
  readonly docId: string;
  /** The sequence number of the text that was judged. */
  readonly seq: string;
};

/**
 * Submits the masked form of a stored text as the newest job of its document. Nothing is submitted if the text is no
 * longer live, or if an open job is about to replace it.
 * @throws DocumentFault if a failed job that can be replayed would replace the text: a later job would make that replay
 * ineffective
 */
export async function resubmitMasked(
  ports: Pick<IngestPorts, 'database' | 'objects'>,
  text: ReplacedText,
  masked: JudgedDocument,
): Promise<void> {
  const { database, objects } = ports;
  const dates = await readDates(database.sql, text);
  const payload = stagedBytes(contentOf({ ...masked, metadata: withDates(masked.metadata, dates) }));
  const jobId = uuid();
  const key = stagingKey(text.tenant, jobId);
  await objects.put(key, payload);
  const staged = { key, uri: objects.uriOf(key), bytes: payload.byteLength };
  const isSubmitted = await database.sql.begin((sql) => insertMasking(sql, text, { jobId, staged }));
  if (!isSubmitted) await objects.delete(key);
}

async function insertMasking(
  sql: TransactionSql,
  { tenant, collectionId, version, doc, docId, seq }: ReplacedText,
  { jobId, staged }: { readonly jobId: string; readonly staged: StagedObject },
): Promise<boolean> {
  const [row] = await sql<{ lastSeq: number; epoch: number; labels: string[] }[]>`
    select last_seq::float8 as "lastSeq", op_epoch::float8 as epoch, labels from retrieval.documents
    where doc = ${doc} and live_seq = ${seq} and not deleted for no key update`;
  if (row === undefined) return false;
  const later = await sql<{ jobId: string; isOpen: boolean; isReplayable: boolean }[]>`
    select j.job_id as "jobId", j.status <> 'FAILED' as "isOpen",
      (j.staged or j.op = 'delete') and not (${maskingJob(sql)}) as "isReplayable"
    from retrieval.jobs j where j.doc = ${doc} and j.seq > ${seq}`;
  if (later.some(({ isOpen }) => isOpen)) return false;
  const replayable = later.find(({ isReplayable }) => isReplayable);
  if (replayable !== undefined) {
    throw new DocumentFault(
      'submit_failed',
      `the policy masks more of a stored text than before, and job ${replayable.jobId}, which replaces that text, is ` +
        'FAILED: replay it or submit its document with another idempotency_key, then reindex again',
    );
  }
  const document = {
    collectionId,
    collection: collectionId,
    docId,
    op: 'upsert',
    contentHash: maskingHash(jobId),
    idempotencyKey: maskingKey(version),
    labels: row.labels,
  } as const;
  const next = { doc, lastSeq: row.lastSeq + 1, lastOp: 'upsert', opEpoch: row.epoch } as const;
  const record = { jobId, doc, seq: next.lastSeq, epoch: row.epoch, document, staged };
  await insertJobs(sql, { tenant, traceId: jobId }, [record], [next]);
  return true;
}

function contentOf({ title, blocks, metadata }: JudgedDocument) {
  const pages = blocks.map(({ page }) => page ?? 0);
  return {
    content: {
      ...(title === undefined ? {} : { title }),
      sections: blocks.map(({ heading, text }) => ({ ...(heading === undefined ? {} : { heading }), text })),
      ...(pages.every((page) => page > 0) ? { pages } : {}),
    },
    metadata,
  };
}

/** The time in which the document may be found, in UTC; null if there is no limit. */
type Dates = { readonly valid_from: string | null; readonly valid_until: string | null };

async function readDates(sql: Sql, { doc }: Pick<ReplacedText, 'doc'>): Promise<Dates> {
  const format = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';
  const [dates] = await sql<Dates[]>`
    select to_char(valid_from at time zone 'UTC', ${format}) as valid_from,
      to_char(valid_until at time zone 'UTC', ${format}) as valid_until
    from retrieval.documents where doc = ${doc}`;
  return dates ?? { valid_from: null, valid_until: null };
}

/** The worker reads the dates from the metadata, where the policy may have masked them. */
function withDates(metadata: JudgedDocument['metadata'], dates: Dates): JudgedDocument['metadata'] {
  const bounds = Object.entries(dates).filter(([key, at]) => at !== null && !isInstant(metadata[key], at));
  return { ...metadata, ...Object.fromEntries(bounds) };
}

function isInstant(value: unknown, at: string): boolean {
  return typeof value === 'string' && Date.parse(value) === Date.parse(at);
}
