import type { Database } from '#sql/connect';
import { checkRoom } from '../commit/check-room.ts';
import { indexChunks } from '../commit/index-chunks.ts';
import { type LiveOutcome, makeLive } from '../commit/make-live.ts';
import { readVersions } from '../commit/read-versions.ts';
import type { WriteCondition } from '../commit/write-chunks.ts';
import { DependencyUnavailableError, DocumentFault } from '../faults.ts';
import type { ClaimedJob } from '../jobs/claim-job.ts';
import { isMaskingJob } from '../jobs/masking-job.ts';
import { settleJob } from '../jobs/settle-jobs.ts';
import type { IngestPorts } from './ingest-ports.ts';
import { prepareDocument } from './prepare-document.ts';

/** `claim_over`: another worker has claimed the job, or a later job has ended it. */
type Processed = 'done' | 'claim_over';

/** Maximum number of attempts to commit while reindexes add versions meanwhile. */
const mostCommits = 5;

/**
 * Processes a claimed job to its end. A killed attempt leaves only invisible chunks, which the next attempt removes.
 * @throws DocumentFault, DependencyUnavailableError and the errors of stores
 */
export async function processJob(ports: IngestPorts, job: ClaimedJob, signal: AbortSignal): Promise<Processed> {
  await ports.onStep('claimed');
  const outcome = (await isOvertaken(ports.database, job)) || job.op === 'delete' ? 'no_text' : 'text';
  const live =
    outcome === 'text' ? await indexAndCommit(ports, job, signal) : await makeLive(ports.database, job, undefined);
  switch (live.kind) {
    case 'done':
      await ports.onStep('live');
      await settleJob(ports, job.jobId);
      return 'done';
    case 'claim_over':
      return 'claim_over';
    case 'collection_deleted':
      throw new DocumentFault('collection_deleted', 'the collection was deleted');
    case 'versions_missing':
      throw new DependencyUnavailableError('postgres');
  }
}

async function indexAndCommit(ports: IngestPorts, job: ClaimedJob, signal: AbortSignal): Promise<LiveOutcome> {
  const { canonical, ...document } = await prepareDocument(ports, job, signal);
  if (!isMaskingJob(job)) await checkRoom(ports, job, document);
  const written = new Map<number, number>();
  let live: LiveOutcome = { kind: 'versions_missing', versions: [] };
  for (let commits = 0; commits < mostCommits && live.kind === 'versions_missing'; commits += 1) {
    const plan = await readVersions(ports.database, job.collectionId);
    if (plan === undefined) return { kind: 'collection_deleted' };
    for (const { version, profileId } of plan.versions.filter((one) => !written.has(one.version))) {
      const chunks = await indexChunks(ports, {
        target: { ...job, version },
        canonical,
        lengths: plan.lengths,
        profile: approvedProfile(ports, profileId),
        traceId: job.traceId,
        condition: ownedBy(job, version),
        signal,
      });
      // Either the claim has ended, which the commit detects, or only this version has ended: the other versions still
      // need their chunks.
      if (chunks !== undefined) written.set(version, chunks);
    }
    const versions = [...written].map(([version, chunks]) => ({ version, chunks }));
    live = await makeLive(ports.database, job, { ...document, versions });
  }
  return live;
}

function approvedProfile({ profileOf }: IngestPorts, id: string) {
  const profile = profileOf(id);
  if (profile === undefined) throw new DependencyUnavailableError('models');
  return profile;
}

/**
 * Allows writes while the claim is valid and the version accepts new documents: both rows are locked until the write
 * has committed. So nothing is written to a version after its end, when its chunks are removed.
 */
export function ownedBy(job: ClaimedJob, version: number): WriteCondition {
  return async (sql) => {
    const rows = await sql`
      select 1 from retrieval.jobs j
      join retrieval.index_versions v on v.collection_id = j.collection_id and v.number = ${version}
      where j.job_id = ${job.jobId} and j.attempt = ${job.attempt} and j.status = 'RUNNING'
        and v.state in ('active', 'building')
      for share of j, v`;
    return rows.length > 0;
  };
}

/**
 * Whether a later job has taken effect, so that reading and embedding is not necessary. The commit checks this again.
 */
async function isOvertaken({ sql }: Database, { doc, seq }: ClaimedJob): Promise<boolean> {
  const rows = await sql`select 1 from retrieval.documents where doc = ${doc} and live_seq >= ${seq}`;
  return rows.length > 0;
}
