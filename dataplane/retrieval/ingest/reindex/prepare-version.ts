import { setTimeout as pause } from 'node:timers/promises';
import type { Database, Sql, TransactionSql } from '#sql/connect';
import type { ClaimedVersion } from './claim-version.ts';

/** Waits for replicas that load a version before the switch, milliseconds. */
const preloadWaits = {
  /** Time for the first replica to begin. */
  noticeMs: 500,
  /** Pause between two checks. */
  everyMs: 200,
  /** Longest wait for all replicas; then the switch happens anyway, and their first queries wait. */
  mostMs: 60_000,
} as const;

/**
 * Records that a building version has every live document, so that replicas can load it before the switch. From then
 * on, the job of each document that becomes live also writes to this version, with a change number that followers read.
 */
export async function prepareVersion(
  database: Database,
  claim: ClaimedVersion,
): Promise<'prepared' | 'incomplete' | 'claim_over'> {
  const { collectionId, version } = claim;
  if (await isStillLacking(database.sql, claim)) return 'incomplete';
  return database.sql.begin(async (sql) => {
    const end = await lockBuilding(sql, claim);
    if (end !== 'complete') return end;
    await sql`
      update retrieval.index_versions v set complete_since = c.change_no from retrieval.collections c
      where v.collection_id = ${collectionId} and v.number = ${version} and v.complete_since is null
        and c.collection_id = v.collection_id`;
    return 'prepared';
  });
}

/**
 * Whether a claimed version that was never complete still lacks a document. Reads without a lock: a build that waits
 * for documents must not delay their commits.
 */
async function isStillLacking(sql: Sql, claim: ClaimedVersion): Promise<boolean> {
  const [lacking] = await sql`
    select 1 from retrieval.index_versions
    where collection_id = ${claim.collectionId} and number = ${claim.version} and attempt = ${claim.attempt}
      and state = 'building' and complete_since is null and exists (${lackingDocument(sql, claim)})`;
  return lacking !== undefined;
}

/** A live document that does not have all of its chunks in the version. */
function lackingDocument(sql: Sql | TransactionSql, { collectionId, version }: ClaimedVersion) {
  return sql`
    select 1 from retrieval.documents d
    where d.collection_id = ${collectionId} and not d.deleted and not exists (
      select 1 from retrieval.indexed_documents i
      where i.doc = d.doc and i.version = ${version} and i.seq = d.live_seq)
    limit 1`;
}

/**
 * Locks the collection and its building version, and proves that the version has all chunks of every live document. The
 * lock of the collection's row keeps documents from becoming live until the transaction ends.
 */
export async function lockBuilding(
  sql: TransactionSql,
  claimed: ClaimedVersion,
): Promise<'complete' | 'incomplete' | 'claim_over'> {
  const { collectionId, version, attempt } = claimed;
  await sql`select 1 from retrieval.collections where collection_id = ${collectionId} for no key update`;
  const [claim] = await sql`
    select 1 from retrieval.index_versions
    where collection_id = ${collectionId} and number = ${version} and attempt = ${attempt} and state = 'building'
    for no key update`;
  if (claim === undefined) return 'claim_over';
  const [lacking] = await lackingDocument(sql, claimed);
  if (lacking === undefined) return 'complete';
  // The number is raised, so that earlier loads are not taken for complete later.
  await sql`
    with incomplete as (
      update retrieval.index_versions set complete_since = null
      where collection_id = ${collectionId} and number = ${version} and complete_since is not null
      returning collection_id
    )
    update retrieval.collections c set change_no = change_no + 1 from incomplete i
    where c.collection_id = i.collection_id`;
  return 'incomplete';
}

/** Resolves when no replica is loading the version, or after the longest wait. */
export async function awaitPreloads(
  { sql }: Pick<Database, 'sql'>,
  { collectionId, version }: Pick<ClaimedVersion, 'collectionId' | 'version'>,
  signal: AbortSignal,
): Promise<void> {
  const end = performance.now() + preloadWaits.mostMs;
  await pause(preloadWaits.noticeMs, undefined, { signal });
  while (performance.now() < end) {
    const [loading] = await sql`
      select 1 from retrieval.preloads
      where collection_id = ${collectionId} and version = ${version} and expires_at > clock_timestamp() limit 1`;
    if (loading === undefined) return;
    await pause(preloadWaits.everyMs, undefined, { signal });
  }
}
