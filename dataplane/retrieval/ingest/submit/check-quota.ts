import type { Sql } from '#sql/connect';
import type { JobIdentity } from './decide-submit.ts';

/** Limits of one tenant. */
export type TenantQuota = {
  readonly collections: number;
  /** Live documents in all collections together. */
  readonly documents: number;
  /** Jobs that have not ended. */
  readonly openJobs: number;
  /** The stored text and metadata of documents and the staged content of jobs. */
  readonly bytes: number;
};

/** The names of the limits that a request may reach; `index` is the share of the index that one collection may use. */
export const submitLimits = ['collections', 'documents', 'open_jobs', 'bytes', 'index'] as const;
export type SubmitLimit = (typeof submitLimits)[number];

type QuotaDocument = Pick<JobIdentity, 'collectionId' | 'docId' | 'op'> & { readonly payload: Uint8Array | undefined };

const uuidType = 2950;

/**
 * The limit that a batch would exceed for the tenant; undefined within the quota, and for deletions of documents that were
 * submitted before. Other deletions count as open jobs: they would bring rows for names that a client invents. Batches that are checked at the same time can together exceed it: the quota bounds load and is not a protection.
 * @param referredBytes sum of `bytes` of the contents that are not staged
 */
export async function reachedQuota(
  sql: Sql,
  tenant: string,
  quota: TenantQuota,
  documents: readonly QuotaDocument[],
  referredBytes: number,
): Promise<SubmitLimit | undefined> {
  const upserts = documents.filter(({ op }) => op === 'upsert');
  const invented = await unknownDeletions(sql, documents);
  if (upserts.length + invented === 0) return undefined;
  const [found] = await sql<{ open: number; live: number; known: number; bytes: number }[]>`
    select
      (select count(*)::int from (
        select from retrieval.jobs where tenant = ${tenant} and status in ('PENDING', 'RUNNING')
        limit ${quota.openJobs}) o) as open,
      (select coalesce(sum(doc_count), 0)::float8 from retrieval.collections
        where tenant = ${tenant} and status <> 'deleted') as live,
      (select coalesce(sum(text_bytes), 0)::float8 from retrieval.collections
        where tenant = ${tenant} and status <> 'deleted')
      + (select coalesce(sum(payload_bytes), 0)::float8 from retrieval.jobs where tenant = ${tenant} and staged) as bytes,
      (select count(*)::int from ${named(sql, upserts)}
        join retrieval.documents d using (collection_id, doc_id) where not d.deleted) as known`;
  if (found === undefined) return 'documents';
  const distinct = new Set(upserts.map(({ collectionId, docId }) => `${collectionId} ${docId}`)).size;
  const added = distinct - found.known;
  const payload = upserts.reduce((sum, one) => sum + (one.payload?.byteLength ?? 0), 0);
  if (found.open + upserts.length + invented > quota.openJobs) return 'open_jobs';
  if (upserts.length === 0) return undefined;
  if (added > 0 && found.live + added > quota.documents) return 'documents';
  return found.bytes + payload + referredBytes > quota.bytes ? 'bytes' : undefined;
}

/** Deletions of documents that have no row, not even one of a deleted document. */
async function unknownDeletions(sql: Sql, documents: readonly QuotaDocument[]): Promise<number> {
  const deletions = documents.filter(({ op }) => op === 'delete');
  if (deletions.length === 0) return 0;
  const [found] = await sql<{ unknown: number }[]>`
    select count(*)::int as unknown from ${named(sql, deletions)}
    where not exists (
      select from retrieval.documents d where d.collection_id = k.collection_id and d.doc_id = k.doc_id)`;
  return found?.unknown ?? 0;
}

/** The collections and names of documents, each once, as a table `k`. */
function named(sql: Sql, documents: readonly QuotaDocument[]) {
  const collections = documents.map(({ collectionId }) => collectionId);
  const names = documents.map(({ docId }) => docId);
  return sql`(
    select distinct collection_id, doc_id
    from unnest(${sql.array(collections, uuidType)}::uuid[], ${sql.array(names)}::text[]) k (collection_id, doc_id)) k`;
}
