import type { FailingProvider } from '#contracts/failing-provider';
import type { Sql } from '#sql/connect';
import { longestUnavailabilityHours } from '../jobs/end-attempt.ts';
import type { ChunkLengths } from '../text/chunk-range.ts';

/** A building version that this worker may process until another claim follows. */
export type ClaimedVersion = ChunkLengths & {
  readonly tenant: string;
  readonly collectionId: string;
  readonly version: number;
  readonly profileId: string;
  readonly attempt: number;
};

type Claim = Pick<ClaimedVersion, 'collectionId' | 'version' | 'attempt'>;

/**
 * Claims a building version without a worker; the build resumes where the earlier claim ended. The time without progress
 * counts from the first claim that follows another one, because a worker that is killed reports no fault.
 */
export async function claimVersion(sql: Sql, leaseMs: number): Promise<ClaimedVersion | undefined> {
  await sql`
    update retrieval.index_versions set state = 'failed', failure_code = 'dependency_unavailable',
      failure = ${tooLong('the worker')}, ended_at = clock_timestamp()
    where state = 'building' and due_at <= clock_timestamp() and ${isTooLong(sql)}`;
  const [row] = await sql<ClaimedVersion[]>`
    update retrieval.index_versions v
    set attempt = v.attempt + 1,
      unavailable_since = case when v.attempt > 0 then coalesce(v.unavailable_since, clock_timestamp()) end,
      due_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    from retrieval.collections c
    where c.collection_id = v.collection_id and (v.collection_id, v.number) = (
      select collection_id, number from retrieval.index_versions
      where state = 'building' and due_at <= clock_timestamp()
      order by due_at for update skip locked limit 1)
    returning c.tenant, v.collection_id as "collectionId", v.number as version, v.embedding_profile_id as "profileId",
      v.attempt, c.chunk_size as size, c.chunk_overlap as overlap`;
  return row;
}

/** Counts the progress of a build without the lock of the claim, because the count reads every document of the collection. */
export async function countDone(sql: Sql, claim: ClaimedVersion): Promise<void> {
  const [done] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from retrieval.documents d join retrieval.indexed_documents i on i.doc = d.doc and i.version = ${claim.version}
    where d.collection_id = ${claim.collectionId} and not d.deleted`;
  await sql`update retrieval.index_versions set documents_done = ${done?.count ?? 0} where ${ownVersion(sql, claim)}`;
}

/** Extends the lease of a claim; false if the claim has ended. */
export async function renewVersion(sql: Sql, claim: Claim, leaseMs: number): Promise<boolean> {
  const rows = await sql`
    update retrieval.index_versions set due_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    where ${ownVersion(sql, claim)} returning number`;
  return rows.length > 0;
}

/** Ends a version that cannot be completed; the active version keeps serving. */
export async function failVersion(
  sql: Sql,
  claim: Claim,
  failure: { readonly code: string; readonly message: string },
): Promise<void> {
  await sql`
    update retrieval.index_versions set state = 'failed', failure_code = ${failure.code}, failure = ${failure.message},
      ended_at = clock_timestamp()
    where ${ownVersion(sql, claim)}`;
}

type Release = {
  readonly pauseMs: number;
  /** The detector or classifier that did not judge, where that is the cause. */
  readonly failing: FailingProvider | undefined;
  /** Whether the claim wrote chunks, which the next one keeps: the time without progress then begins again. */
  readonly hasProgress: boolean;
};

/** Pauses a version until a dependency answers again; after 24 hours without progress it fails. */
export async function releaseVersion(
  sql: Sql,
  claim: Claim,
  dependency: string,
  { pauseMs, failing, hasProgress }: Release,
): Promise<void> {
  await sql`
    update retrieval.index_versions set
      unavailable_since = coalesce(case when not ${hasProgress} then unavailable_since end, clock_timestamp()),
      due_at = clock_timestamp() + ${pauseMs} * interval '1 millisecond',
      failing_provider = ${failing === undefined ? null : sql.json(failing)}
    where ${ownVersion(sql, claim)}`;
  await sql`
    update retrieval.index_versions set state = 'failed', failure_code = 'dependency_unavailable',
      failure = ${tooLong(dependency)}, ended_at = clock_timestamp()
    where ${ownVersion(sql, claim)} and ${isTooLong(sql)}`;
}

function tooLong(dependency: string): string {
  return `${dependency} did not answer for ${longestUnavailabilityHours} hours: reindex again when it does`;
}

function isTooLong(sql: Sql) {
  return sql`unavailable_since <= clock_timestamp() - ${longestUnavailabilityHours} * interval '1 hour'`;
}

function ownVersion(sql: Sql, { collectionId, version, attempt }: Claim) {
  return sql`collection_id = ${collectionId} and number = ${version} and attempt = ${attempt} and state = 'building'`;
}
