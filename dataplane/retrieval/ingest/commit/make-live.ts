import type { Database, TransactionSql } from '#sql/connect';
import type { ClaimedJob } from '../jobs/claim-job.ts';
import type { TextRange } from '../text/canonical-text.ts';

/** The properties of a live document. */
export type LiveDocument = {
  readonly title: string | undefined;
  readonly sourceUrl: string | undefined;
  readonly metadata: object;
  readonly validFrom: string | undefined;
  readonly validUntil: string | undefined;
  readonly text: string;
  readonly ranges: readonly TextRange[];
  readonly policyRevision: string | undefined;
  /**
   * Versions whose chunks are written under the sequence number of the job, and how many. Jobs that have ended do not
   * count.
   */
  readonly versions: readonly { readonly version: number; readonly chunks: number }[];
};

export type LiveOutcome =
  /** The job is DONE, and live unless a later job had already taken effect. */
  | { readonly kind: 'done' }
  /** Another worker has claimed the job, or a later job has ended it. */
  | { readonly kind: 'claim_over' }
  /** The collection has versions for which no chunks were written: nothing has changed. */
  | { readonly kind: 'versions_missing'; readonly versions: readonly number[] }
  /** The collection was deleted: nothing has changed. */
  | { readonly kind: 'collection_deleted' };

/**
 * Makes a job take effect in one transaction, if its claim is still valid and no later job has taken effect. The
 * transaction writes the state of the document, the counts, the end of this job and of all jobs that it supersedes, and
 * as the last statement the change number. Locks: document, jobs, collection; every transaction takes them in this
 * order. A write of chunks locks its job and its version, and then, by the foreign key of the chunks, the key of the
 * document: the lock of a document must not conflict with this key lock.
 * @param live undefined for a delete
 */
export async function makeLive(
  database: Database,
  job: ClaimedJob,
  live: LiveDocument | undefined,
): Promise<LiveOutcome> {
  try {
    return await database.sql.begin((sql) => makeLiveIn(sql, job, live));
  } catch (error) {
    if (error instanceof Undone) return error.outcome;
    throw error;
  }
}

/** Thrown to roll the transaction back. */
class Undone extends Error {
  readonly outcome: LiveOutcome;

  constructor(outcome: LiveOutcome) {
    super('the transaction is undone');
    this.outcome = outcome;
  }
}

async function makeLiveIn(sql: TransactionSql, job: ClaimedJob, live: LiveDocument | undefined): Promise<LiveOutcome> {
  const [before] = await sql<Before[]>`
    select live_seq < ${job.seq} as "isNewer", deleted from retrieval.documents
    where doc = ${job.doc} for no key update`;
  if (before === undefined) return { kind: 'claim_over' };
  if (!(await endJobs(sql, job, before.isNewer))) return { kind: 'claim_over' };
  if (!before.isNewer) return { kind: 'done' };
  await writeDocument(sql, job, live);
  const collection = await lockCollection(sql, job.collectionId);
  if (collection === undefined) throw new Undone({ kind: 'collection_deleted' });
  const missing = collection.versions.filter((one) => !live?.versions.some(({ version }) => version === one));
  if (live !== undefined && missing.length > 0) throw new Undone({ kind: 'versions_missing', versions: missing });
  const counts = await replaceIndexed(sql, job, live, collection);
  await sql`
    with changed as (
      update retrieval.collections set change_no = change_no + 1, updated_at = clock_timestamp(),
        status = case when status = 'deleted' or ${live === undefined} then status else 'ready' end,
        doc_count = doc_count + ${Number(live !== undefined) - Number(!before.deleted)},
        chunk_count = chunk_count + ${counts.after - counts.before}
      where collection_id = ${job.collectionId} returning change_no
    )
    update retrieval.documents d set change_no = changed.change_no from changed where d.doc = ${job.doc}`;
  return { kind: 'done' };
}

type Before = { readonly isNewer: boolean; readonly deleted: boolean };

/** Ends the job, and the older open jobs of the document if it takes effect; false if the claim has ended. */
async function endJobs(sql: TransactionSql, job: ClaimedJob, isNewer: boolean): Promise<boolean> {
  const own = await sql`
    update retrieval.jobs set status = 'DONE', available_at = clock_timestamp(), updated_at = clock_timestamp()
    where job_id = ${job.jobId} and attempt = ${job.attempt} and status = 'RUNNING' returning job_id`;
  if (own.length === 0 || !isNewer) return own.length > 0;
  await sql`
    update retrieval.jobs set status = 'DONE', available_at = clock_timestamp(), updated_at = clock_timestamp(),
      retry_at = null
    where doc = ${job.doc} and seq < ${job.seq} and status in ('PENDING', 'RUNNING')`;
  return true;
}

async function writeDocument(sql: TransactionSql, job: ClaimedJob, live: LiveDocument | undefined): Promise<void> {
  // An access list that changed after the claim takes effect: its change also waits for the lock of the document.
  const labelsNow = sql`(select j.labels from retrieval.jobs j where j.job_id = ${job.jobId})`;
  await sql`
    update retrieval.documents set
      live_seq = ${job.seq}, deleted = ${live === undefined}, available_at = clock_timestamp(),
      labels = ${live === undefined ? sql`'{}'::text[]` : labelsNow},
      title = ${live?.title ?? null}, source_url = ${live?.sourceUrl ?? null},
      metadata = ${JSON.stringify(live?.metadata ?? {})}::text::jsonb,
      valid_from = ${live?.validFrom ?? null}::timestamptz, valid_until = ${live?.validUntil ?? null}::timestamptz,
      text = ${live?.text ?? ''}, ranges = ${JSON.stringify(live?.ranges ?? [])}::text::jsonb,
      policy_revision = ${live?.policyRevision ?? null}
    where doc = ${job.doc}`;
}

/** `versions` are those that take documents. */
type LockedCollection = { readonly activeVersion: number; readonly versions: readonly number[] };

async function lockCollection(sql: TransactionSql, collectionId: string): Promise<LockedCollection | undefined> {
  const [row] = await sql<{ status: string; active_version: number }[]>`
    select status, active_version from retrieval.collections
    where collection_id = ${collectionId} for no key update`;
  if (row === undefined || row.status === 'deleted') return undefined;
  const rows = await sql<{ number: number }[]>`
    select number from retrieval.index_versions
    where collection_id = ${collectionId} and state in ('active', 'building') order by number`;
  return { activeVersion: row.active_version, versions: rows.map(({ number }) => number) };
}

/** Records which versions have all chunks of the document; returns its chunks in the active version before and after. */
async function replaceIndexed(
  sql: TransactionSql,
  job: ClaimedJob,
  live: LiveDocument | undefined,
  { activeVersion, versions: open }: LockedCollection,
): Promise<{ readonly before: number; readonly after: number }> {
  const old = await sql<{ version: number; chunk_count: number }[]>`
    delete from retrieval.indexed_documents where doc = ${job.doc} returning version, chunk_count`;
  const versions = (live?.versions ?? []).filter(({ version }) => open.includes(version));
  for (const { version, chunks } of versions) {
    await sql`
      insert into retrieval.indexed_documents (doc, version, seq, chunk_count)
      values (${job.doc}, ${version}, ${job.seq}, ${chunks})`;
  }
  return {
    before: old.find(({ version }) => version === activeVersion)?.chunk_count ?? 0,
    after: versions.find(({ version }) => version === activeVersion)?.chunks ?? 0,
  };
}
