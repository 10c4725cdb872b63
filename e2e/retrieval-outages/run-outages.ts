import { setTimeout as pause } from 'node:timers/promises';
import { until } from '#kit/testing/until';
import { replayJob } from '../../dataplane/retrieval/ingest/jobs/dead-letters.ts';
import { auditCollection } from '../retrieval-crashes/audit-collection.ts';
import { crashTenant } from '../retrieval-crashes/crash-settings.ts';
import { callService, callUntilDone } from './call-service.ts';
import { type SearchCounts, searchAll, searched, submitAll, submitSearched } from './outage-load.ts';
import { type Combination, type OutageWorld, openOutageWorld, outageProfile } from './outage-world.ts';

export type OutageSize = { readonly submits: number; readonly documents: number; readonly kills: number };

type Outages = SearchCounts & {
  readonly kills: Readonly<Record<string, number>>;
  readonly accepted: number;
  readonly reindexes: number;
  readonly replays: number;
  /** Faults after every job has ended. */
  readonly faults: readonly string[];
};

/**
 * Pause between two replacements of all searched documents with a reindex, milliseconds. A search in OpenSearch waits
 * for a refresh after each change, and is refused while changes are more frequent than refreshes.
 */
const changePauseMs = { embedded: 300, opensearch: 3_000 } as const;

/**
 * Kills the parts of a combination one after another during submits, searches and reindexes, and checks the final
 * state.
 */
export async function runOutages(combination: Combination, size: OutageSize): Promise<Outages> {
  await using world = await openOutageWorld(combination);
  const collection = { embedding_profile_id: outageProfile, chunking: { size: 100, overlap: 20 } };
  const crash = await callUntilDone(world, '/v1/collections', { name: 'crash', ...collection });
  const other = await callUntilDone(world, '/v1/collections', { name: searched, ...collection });
  await submitSearched(world, 0);
  await until('the searched documents are live', () => isDrained(world));
  const accepted = new Map<number, string>();
  const counts: SearchCounts = { answers: 0, refused: 0, incomplete: 0, mixed: 0, first: undefined };
  const over = new AbortController();
  const searching = searchAll(world, over.signal, counts);
  const submitting = submitAll(world, size, accepted);
  let state = 0;
  let reindexes = 0;
  const changing = (async () => {
    for (state = 1; !over.signal.aborted; state += 1) {
      await submitSearched(world, state);
      const answer = await callService(world, `/v1/collections/${other['collection_id']}:reindex`, {});
      reindexes += Number(answer?.status === 202);
      await pause(changePauseMs[combination.search]);
    }
  })();
  const kills: Record<string, number> = {};
  for (let at = 0; at < size.kills; at += 1) {
    await pause(200 + Math.random() * 800);
    const part = world.parts[at % world.parts.length] ?? 'worker';
    kills[part] = (kills[part] ?? 0) + 1;
    await world.crash(part, Math.random() * 800);
  }
  await submitting;
  const before = counts.answers;
  await until('a search is answered after the last kill', () => counts.answers > before);
  over.abort();
  await Promise.all([searching, changing]);
  const replays = await endAll(world);
  const faults = [
    ...(await auditCollection(world.database.sql, String(crash['collection_id']), accepted)),
    ...(await searchedFaults(world, String(other['collection_id']))),
    ...(accepted.size === size.submits ? [] : [`${accepted.size} of ${size.submits} submits were accepted`]),
  ];
  return { ...counts, kills, accepted: accepted.size, reindexes, replays, faults };
}

async function isDrained({ database: { sql } }: OutageWorld): Promise<boolean> {
  const [row] = await sql<{ open: number }[]>`
    select (select count(*) from retrieval.jobs where status in ('PENDING', 'RUNNING') or status = 'DONE' and not settled)::int
      + (select count(*) from retrieval.index_versions where state = 'building')::int as open`;
  return row?.open === 0;
}

/** Waits until all work has ended, and replays dead letters until none are left. Returns the number of replays. */
async function endAll(world: OutageWorld): Promise<number> {
  const { sql } = world.database;
  for (let replays = 0; ; ) {
    await until(
      'all work has ended',
      async () => {
        // Skips the backoff after faults and the delay before leftovers are removed.
        await sql`
        update retrieval.jobs set due_at = clock_timestamp()
        where status = 'PENDING' or status = 'RUNNING' and retry_at is not null`;
        await sql`
        update retrieval.jobs set updated_at = updated_at - interval '1 minute', retry_at = null
        where status = 'DONE' and not settled`;
        return isDrained(world);
      },
      { everyMs: 500 },
    ).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await unfinished(world)}`, { cause: error });
    });
    const dead = await sql<{ job_id: string }[]>`
      select job_id from retrieval.jobs where dead_lettered_at is not null`;
    if (dead.length === 0) return replays;
    for (const { job_id } of dead) await replayJob(sql, { tenant: crashTenant, jobId: job_id });
    replays += dead.length;
  }
}

/** The remaining work, and the last lines of the processes that do it. */
async function unfinished(world: OutageWorld): Promise<string> {
  const { sql } = world.database;
  const jobs = await sql`
    select status, attempt, deliveries, settled, retry_at is not null as waits, due_at > clock_timestamp() as later,
      count(*)::int as count
    from retrieval.jobs where status in ('PENDING', 'RUNNING') or status = 'DONE' and not settled
    group by 1, 2, 3, 4, 5, 6 limit 10`;
  const versions = await sql`
    select number, attempt, due_at > clock_timestamp() as later, unavailable_since, documents_done, documents_total
    from retrieval.index_versions where state = 'building'`;
  return JSON.stringify({ jobs, versions, processes: world.lastLines() }, null, 1);
}

/** Faults of the searched documents at the end: each must show its newest job, and every job must be DONE. */
async function searchedFaults({ database: { sql } }: OutageWorld, collectionId: string): Promise<readonly string[]> {
  const jobs = await sql<{ job_id: string; status: string }[]>`
    select job_id, status from retrieval.jobs where collection_id = ${collectionId} and status <> 'DONE'`;
  const documents = await sql<{ doc_id: string }[]>`
    select doc_id from retrieval.documents where collection_id = ${collectionId} and live_seq <> last_seq`;
  return [
    ...jobs.map(({ job_id, status }) => `the job ${job_id} of a searched document is ${status}`),
    ...documents.map(({ doc_id }) => `the searched document ${doc_id} does not show its newest job`),
  ];
}
