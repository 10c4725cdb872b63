import type { FailingProvider } from '#contracts/failing-provider';
import type { Sql, SqlPart } from '#sql/connect';
import { longestUnavailabilityHours } from '../jobs/end-attempt.ts';
import type { ChunkLengths } from '../text/chunk-range.ts';

/** A building version that this worker may process until another claim follows. */
export type ClaimedVersion = ChunkLengths & {
  readonly tenant: string;
  readonly collectionId: string;
  readonly version: number;
  readonly profileId: string;
  readonly attempt: number;
  /** Time since the reindex was requested, milliseconds. */
  readonly ageMs: number;
};

type Claim = Pick<ClaimedVersion, 'collectionId' | 'version' | 'attempt'>;

/**
 * Claims a building version without a worker; the build resumes where the earlier claim ended. A tenant with such
 * versions is chosen at random, whatever the number of its versions, and then its version that is due first. The time
 * without progress counts from the first claim that follows an earlier claim, because a worker that is killed reports
 * no failure.
 */
export async function claimVersion(sql: Sql, leaseMs: number): Promise<ClaimedVersion | undefined> {
  await sql`
    update retrieval.index_versions set state = 'failed', failure_code = 'dependency_unavailable',
      failure = ${tooLong('the worker')}, ended_at = clock_timestamp()
    where state = 'building' and due_at <= clock_timestamp() and ${isTooLong(sql)}`;
  const [row] = await sql<ClaimedVersion[]>`
    with due as materialized (
      select v.collection_id, v.number, c.tenant
      from retrieval.index_versions v join retrieval.collections c using (collection_id) where ${isDue(sql)}),
    drawn as materialized (select tenant, random() as draw from (select distinct tenant from due) t)
    update retrieval.index_versions v
    set attempt = v.attempt + 1,
      unavailable_since = case when v.attempt > 0 then coalesce(v.unavailable_since, clock_timestamp()) end,
      due_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    from retrieval.collections c
    where c.collection_id = v.collection_id and (v.collection_id, v.number) = (
      select v.collection_id, v.number
      from due join drawn using (tenant) join retrieval.index_versions v using (collection_id, number)
      where ${isDue(sql)} order by drawn.draw, v.due_at for update of v skip locked limit 1)
    returning c.tenant, v.collection_id as "collectionId", v.number as version, v.embedding_profile_id as "profileId",
      v.attempt, extract(epoch from clock_timestamp() - v.created_at)::float8 * 1000 as "ageMs", c.chunk_size as size, c.chunk_overlap as overlap`;
  return row;
}

/** Whether a version of a different tenant waits for a worker. */
export async function isOtherTenantDue(sql: Sql, { tenant }: Pick<ClaimedVersion, 'tenant'>): Promise<boolean> {
  const [other] = await sql`
    select 1 from retrieval.index_versions v join retrieval.collections c using (collection_id)
    where ${isDue(sql)} and c.tenant <> ${tenant} limit 1`;
  return other !== undefined;
}

/** Condition of a version `v`. */
function isDue(sql: Sql): SqlPart {
  return sql`v.state = 'building' and v.due_at <= clock_timestamp()`;
}

/**
 * Ends the claim of a version that can be continued later, so that another version is built meanwhile. Unlike a
 * release, this does not mean that a dependency is unavailable.
 */
export async function deferVersion(sql: Sql, claim: Claim, pauseMs: number): Promise<void> {
  await sql`
    update retrieval.index_versions set unavailable_since = null, failing_provider = null,
      due_at = clock_timestamp() + ${pauseMs} * interval '1 millisecond'
    where ${ownVersion(sql, claim)}`;
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
  /** Whether the claim wrote chunks, which the next claim keeps: the time without progress then starts again. */
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
