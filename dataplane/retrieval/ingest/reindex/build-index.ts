import { indexChunks } from '../commit/index-chunks.ts';
import type { WriteCondition } from '../commit/write-chunks.ts';
import { DependencyUnavailableError } from '../faults.ts';
import type { TextRange } from '../text/canonical-text.ts';
import type { JsonObject } from '../text/document-content.ts';
import type { IngestPorts } from '../worker/ingest-ports.ts';
import { checkAgain } from './check-again.ts';
import { type ClaimedVersion, isOtherTenantDue } from './claim-version.ts';
import { awaitPreloads, prepareVersion } from './prepare-version.ts';
import { readLacking } from './read-lacking.ts';
import { switchVersion } from './switch-version.ts';

/**
 * `waiting`: jobs are writing the documents that the version lacks. `turn_over`: a version of another tenant is due.
 * After both outcomes the next claim continues the build.
 */
type BuildOutcome = 'switched' | 'claim_over' | 'waiting' | 'turn_over';

/** How long a build continues while a version of another tenant is due, milliseconds. */
export const buildTurnMs = 30_000;

/**
 * Writes every live document that a building version lacks, then switches to it. Documents that become live meanwhile
 * are written by their own jobs. Every write depends on the claim and on the document's sequence number, so that two
 * workers, or a worker that was stopped, do not mix chunks.
 * @throws DocumentFault, DependencyUnavailableError and the errors of stores
 */
export async function buildIndex(
  ports: IngestPorts,
  claim: ClaimedVersion,
  { turnMs, signal }: { readonly turnMs: number; readonly signal: AbortSignal },
): Promise<BuildOutcome> {
  const turnEnd = performance.now() + turnMs;
  for (;;) {
    const visited = await buildLacking(ports, claim, { turnEnd, signal });
    if (typeof visited === 'string') return visited;
    const outcome = await prepareAndSwitch(ports, claim, signal);
    if (outcome !== 'incomplete') return outcome;
    if (visited.built === 0) return 'waiting';
  }
}

/** Visits each document that the version lacks once, so that those that wait for their jobs do not delay others. */
async function buildLacking(
  ports: IngestPorts,
  claim: ClaimedVersion,
  { turnEnd, signal }: { readonly turnEnd: number; readonly signal: AbortSignal },
): Promise<{ readonly built: number } | 'claim_over' | 'turn_over'> {
  let built = 0;
  for (let after: string | undefined = '0'; after !== undefined; ) {
    signal.throwIfAborted();
    const lacking = await readLacking(ports.database, claim, after);
    for (const document of lacking.toBuild) {
      signal.throwIfAborted();
      const end = await buildDocument(ports, claim, document, signal);
      if (end === 'claim_over') return end;
      if (end === 'built') built += 1;
      if (performance.now() >= turnEnd && (await isOtherTenantDue(ports.database.sql, claim))) return 'turn_over';
    }
    after = lacking.last;
  }
  return { built };
}

/** Waits until replicas have loaded the complete version, then switches to it. */
async function prepareAndSwitch(
  ports: IngestPorts,
  claim: ClaimedVersion,
  signal: AbortSignal,
): Promise<BuildOutcome | 'incomplete'> {
  const prepared = await prepareVersion(ports.database, claim);
  if (prepared !== 'prepared') return prepared;
  await ports.onStep('prepared');
  ports.hintPrepared();
  await awaitPreloads(ports.database, claim, signal);
  const outcome = await switchVersion(ports.database, claim);
  if (outcome === 'switched') await ports.onStep('switched');
  return outcome;
}

type StoredDocument = {
  readonly docId: string;
  readonly seq: string;
  readonly title: string | null;
  readonly text: string;
  readonly ranges: readonly TextRange[];
  readonly metadata: JsonObject;
};

async function buildDocument(
  ports: IngestPorts,
  claim: ClaimedVersion,
  doc: string,
  signal: AbortSignal,
): Promise<'built' | 'left_to_job' | 'claim_over'> {
  const { sql } = ports.database;
  const [stored] = await sql<StoredDocument[]>`
    select doc_id as "docId", live_seq as seq, title, text, ranges, metadata from retrieval.documents
    where doc = ${doc} and not deleted`;
  if (stored === undefined) return 'left_to_job';
  const title = stored.title ?? undefined;
  const canonical = { ...(title === undefined ? {} : { title }), text: stored.text, ranges: stored.ranges };
  const checked = await checkAgain(ports, { ...claim, ...stored, doc, canonical }, signal);
  // A separate job writes the new text to every version.
  if (checked === 'left_to_job') return checked;
  const profile = ports.profileOf(claim.profileId);
  if (profile === undefined) throw new DependencyUnavailableError('models');
  const condition = lackingAndOwned(claim, doc, stored.seq);
  const chunks = await indexChunks(ports, {
    target: { ...claim, doc, docId: stored.docId, seq: stored.seq },
    canonical,
    lengths: claim,
    profile,
    traceId: '',
    condition,
    signal,
  });
  if (chunks !== undefined) await recordBuilt(ports, claim, { doc, seq: stored.seq, chunks }, condition);
  await ports.onStep('built');
  if (!(await isOwned(ports, claim))) return 'claim_over';
  return chunks === undefined ? 'left_to_job' : 'built';
}

async function recordBuilt(
  { database }: IngestPorts,
  { collectionId, version }: ClaimedVersion,
  { doc, seq, chunks }: { readonly doc: string; readonly seq: string; readonly chunks: number },
  condition: WriteCondition,
): Promise<void> {
  await database.sql.begin(async (sql) => {
    if (!(await condition(sql))) return;
    await sql`
      insert into retrieval.indexed_documents (doc, version, seq, chunk_count) values (${doc}, ${version}, ${seq}, ${chunks})
      on conflict (doc, version) do update set seq = excluded.seq, chunk_count = excluded.chunk_count`;
    await sql`
      update retrieval.index_versions set documents_done = documents_done + 1, unavailable_since = null,
        failing_provider = null
      where collection_id = ${collectionId} and number = ${version}`;
  });
}

/**
 * The document stays unchanged and the claim stays valid until the write has committed. A document that its own job has
 * completed meanwhile is not written again: if the worker were killed during the rewrite, the document would have no
 * chunks.
 */
function lackingAndOwned({ collectionId, version, attempt }: ClaimedVersion, doc: string, seq: string): WriteCondition {
  return async (sql) => {
    const documents = await sql`
      select 1 from retrieval.documents d
      where d.doc = ${doc} and d.live_seq = ${seq} and not d.deleted and not exists (
        select 1 from retrieval.indexed_documents i
        where i.doc = d.doc and i.version = ${version} and i.seq = ${seq})
      for share of d`;
    if (documents.length === 0) return false;
    const versions = await sql`
      select 1 from retrieval.index_versions
      where collection_id = ${collectionId} and number = ${version} and attempt = ${attempt} and state = 'building'
      for no key update`;
    return versions.length > 0;
  };
}

async function isOwned(
  { database: { sql } }: IngestPorts,
  { collectionId, version, attempt }: ClaimedVersion,
): Promise<boolean> {
  const rows = await sql`
    select 1 from retrieval.index_versions
    where collection_id = ${collectionId} and number = ${version} and attempt = ${attempt} and state = 'building'`;
  return rows.length > 0;
}
