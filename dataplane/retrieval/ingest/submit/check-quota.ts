import type { Sql } from '#sql/connect';
import type { JobIdentity } from './decide-submit.ts';

/** Limits of one tenant. */
export type TenantQuota = {
  /** Live documents in all collections together. */
  readonly documents: number;
  /** Jobs that have not ended. */
  readonly openJobs: number;
};

const uuidType = 2950;

/**
 * Whether a batch keeps the tenant within its quota; deletions always do. Batches that are checked at the same time can
 * together exceed it: the quota bounds load and is not a protection.
 */
export async function isWithinQuota(
  sql: Sql,
  tenant: string,
  quota: TenantQuota,
  documents: readonly Pick<JobIdentity, 'collectionId' | 'docId' | 'op'>[],
): Promise<boolean> {
  const upserts = documents.filter(({ op }) => op === 'upsert');
  if (upserts.length === 0) return true;
  const [found] = await sql<{ open: number; live: number; known: number }[]>`
    select
      (select count(*)::int from (
        select from retrieval.jobs where tenant = ${tenant} and status in ('PENDING', 'RUNNING')
        limit ${quota.openJobs}) o) as open,
      (select coalesce(sum(doc_count), 0)::float8 from retrieval.collections
        where tenant = ${tenant} and status <> 'deleted') as live,
      (select count(*)::int from (
        select distinct collection_id, doc_id from unnest(
          ${sql.array(
            upserts.map(({ collectionId }) => collectionId),
            uuidType,
          )}::uuid[],
          ${sql.array(upserts.map(({ docId }) => docId))}::text[]) k (collection_id, doc_id)) k
        join retrieval.documents d using (collection_id, doc_id) where not d.deleted) as known`;
  if (found === undefined) return false;
  const distinct = new Set(upserts.map(({ collectionId, docId }) => `${collectionId} ${docId}`)).size;
  const added = distinct - found.known;
  return found.open + upserts.length <= quota.openJobs && (added === 0 || found.live + added <= quota.documents);
}
