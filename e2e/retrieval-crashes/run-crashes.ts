import { setTimeout as pause } from 'node:timers/promises';
import type { FollowedChild } from '#kit/testing/start-followed';
import { until } from '#kit/testing/until';
import { replayJob } from '../../dataplane/retrieval/ingest/jobs/dead-letters.ts';
import { startReindex } from '../../dataplane/retrieval/ingest/reindex/start-reindex.ts';
import { ingestSteps } from '../../dataplane/retrieval/ingest/worker/ingest-ports.ts';
import { type CrashSubmit, refusedPrefix } from './crash-documents.ts';
import { crashTenant } from './crash-settings.ts';
import { type CrashWorld, endPauses, isDrained } from './crash-world.ts';
import type { AcceptedSubmits } from './submit-lanes.ts';

/** The numbers and answers of the submits of one run. */
type Submits = { next: number; readonly accepted: Map<number, string> };

const isReached = (child: FollowedChild): boolean => child.output().includes('"reached"');

function takeSubmits(submits: Submits, count: number, documents: number): readonly CrashSubmit[] {
  return Array.from({ length: count }, () => {
    submits.next += 1;
    return { docId: `d${submits.next % documents}`, n: submits.next };
  });
}

/**
 * The submit of a separate document: no later submit supersedes it, so that every worker fetches it and fails, in
 * whatever order it takes the jobs.
 */
function takeRefusedSubmit(submits: Submits): CrashSubmit {
  submits.next += 1;
  return { docId: `${refusedPrefix}${submits.next}`, n: submits.next };
}

/** Longest time until a worker reaches a step, milliseconds. */
const stepDeadlineMs = 60_000;

/** Waits until the worker reaches the step. @throws DeadlineError, early if all work ends without the step */
async function reaches(world: CrashWorld, worker: FollowedChild, step: string): Promise<void> {
  const deadline = (deadlineMs: number) => ({ deadlineMs });
  await until(
    `a worker reaches ${step} or ends all work`,
    async () => isReached(worker) || (await isDrained(world)),
    deadline(stepDeadlineMs),
  );
  // A step is reported after the write that it follows.
  await until(`a worker reaches ${step} before all work has ended`, () => isReached(worker), deadline(5_000));
}

/** Reads the submits that a submitter reported as accepted. */
function collectAccepted(child: FollowedChild, accepted: Map<number, string>): void {
  for (const line of child.output().split('\n')) {
    if (!line.startsWith('{"accepted"')) continue;
    try {
      for (const [n, jobId] of (JSON.parse(line) as { accepted: AcceptedSubmits }).accepted) accepted.set(n, jobId);
    } catch {
      // The last line of a killed process may be incomplete: that submit is repeated.
    }
  }
}

/** The boundaries between the writes of a submit, and between the writes of ingest and reindex. */
export const crashSteps = ['staged', 'registered', ...ingestSteps] as const;
type CrashStep = (typeof crashSteps)[number];

/**
 * Kills a process directly after each of the named steps, and completes the work with another process, while a third
 * process queries the index.
 * @returns the faults afterwards, and the steps that were reached
 */
export async function killAtSteps(
  world: CrashWorld,
  submits: Submits,
  steps: readonly CrashStep[],
  say: (progress: string) => void,
): Promise<{ readonly faults: readonly string[]; readonly kills: number }> {
  const faults: string[] = [];
  let kills = 0;
  const searcher = await world.startSearcher();
  const plan = (step: string) => ({ plan: { step, occurrence: 1, signal: 'SIGKILL' } as const });
  for (const step of steps) {
    if (step !== 'staged' && step !== 'registered') continue;
    const own = takeSubmits(submits, 12, 5);
    const doomed = await world.startSubmitter(own, plan(step));
    await doomed.exit();
    collectAccepted(doomed, submits.accepted);
    kills += Number(isReached(doomed));
    await world.submit(
      own.filter(({ n }) => !submits.accepted.has(n)),
      submits.accepted,
    );
  }
  for (const step of steps) {
    if (step === 'staged' || step === 'registered') continue;
    // These submits include every kind: upserts, fetched and refused upserts, deletes.
    const own = [...takeSubmits(submits, 31, 5), takeRefusedSubmit(submits)];
    const submitted = world.submit(own, submits.accepted);
    const isReindex = step === 'built' || step === 'prepared' || step === 'switched';
    if (isReindex) await submitted.then(() => finish(world, submits));
    await startReindex(world.database, world.collectionId, undefined);
    const doomed = await world.startWorker({ ...plan(step), awayShare: step === 'released' ? 1 : 0 });
    await submitted;
    await reaches(world, doomed, step);
    await doomed.exit();
    kills += 1;
    faults.push(...(await finish(world, submits)).map((fault) => `after ${step}: ${fault}`));
    say(`killed after ${step}: ${faults.length} faults`);
  }
  await searcher.end('SIGKILL');
  return { faults, kills };
}

/** Ends all work with an undisturbed worker, replays the dead letters, and audits. */
async function finish(world: CrashWorld, submits: Submits): Promise<readonly string[]> {
  const worker = await world.startWorker();
  const { sql } = world.database;
  for (let isReplayed = true; isReplayed; ) {
    await endAll(world);
    const dead = await sql<{ job_id: string }[]>`
      select job_id from retrieval.jobs where collection_id = ${world.collectionId} and dead_lettered_at is not null`;
    await replayJobs(world, dead);
    isReplayed = dead.length > 0;
  }
  await worker.end('SIGKILL');
  return world.audit(submits.accepted);
}

async function endAll(world: CrashWorld): Promise<void> {
  const quick = setInterval(() => void endPauses(world).catch(() => undefined), 100);
  await until('every job has ended', () => isDrained(world)).finally(() => clearInterval(quick));
}

async function replayJobs({ database }: CrashWorld, jobs: readonly { readonly job_id: string }[]): Promise<void> {
  for (const { job_id } of jobs) await replayJob(database.sql, { tenant: crashTenant, jobId: job_id });
}

/** Replays every FAILED job with models that accept its text: older jobs restore no old state, and all end DONE. */
export async function replayFailed(
  world: CrashWorld,
  submits: Submits,
): Promise<{ readonly faults: readonly string[]; readonly replays: number }> {
  const { sql } = world.database;
  const failed = await sql<{ job_id: string }[]>`
    select job_id from retrieval.jobs where collection_id = ${world.collectionId} and status = 'FAILED'`;
  await replayJobs(world, failed);
  const worker = await world.startWorker({ isHealed: true });
  await endAll(world);
  await worker.end('SIGKILL');
  const [left] = await sql<{ count: number }[]>`
    select count(*)::int as count from retrieval.jobs
    where collection_id = ${world.collectionId} and status <> 'DONE'`;
  const faults = await world.audit(submits.accepted);
  return { replays: failed.length, faults: [...faults, ...(left?.count === 0 ? [] : ['a replay did not end DONE'])] };
}

type ChurnSize = {
  readonly submits: number;
  readonly documents: number;
  readonly kills: number;
  readonly stops: number;
  readonly pauseMs: number;
};

type ChurnResult = {
  readonly faults: readonly string[];
  readonly kills: number;
  readonly stops: number;
  readonly lostCommits: number;
  readonly deadLetters: number;
  readonly reindexes: number;
};

/** A process that is killed and started again, or stopped. */
type Victim = { child: FollowedChild; readonly start: () => Promise<FollowedChild> };

/** Starts three workers, and one process that queries the index. */
function startVictims(world: CrashWorld): Promise<Victim[]> {
  const startWorker = (): Promise<FollowedChild> => world.startWorker({ awayShare: 0.005 });
  const starts = [startWorker, startWorker, startWorker, world.startSearcher];
  return Promise.all(starts.map(async (start) => ({ start, child: await start() })));
}

/**
 * Submits under random faults: workers, submitters and the process that queries the index are killed, or stopped past the
 * lease of a worker, answers of commits are lost, models are unavailable, the database is killed, and the collection is
 * reindexed meanwhile.
 */
export async function churnDocuments(
  world: CrashWorld,
  submits: Submits,
  size: ChurnSize,
  say: (progress: string) => void,
): Promise<ChurnResult> {
  const pending = takeSubmits(submits, size.submits, size.documents);
  const counts = { kills: 0, stops: 0, reindexes: 0 };
  world.proxy.share = 0.01;
  const victims = await startVictims(world);
  const { pauseMs } = size;
  let submitter = await world.startSubmitter(pending, { pauseMs });
  const rest = (): readonly CrashSubmit[] => pending.filter(({ n }) => !submits.accepted.has(n));
  const isOver = (): boolean => counts.kills >= size.kills && counts.stops >= size.stops;
  while (!isOver()) {
    await pause(100 + Math.random() * 300);
    collectAccepted(submitter, submits.accepted);
    const victim = victims[Math.floor(Math.random() * victims.length)] as Victim;
    const dice = Math.random();
    if (counts.stops < size.stops && dice < 0.5) {
      counts.stops += 1;
      await stopPastLease(victim.child);
    } else if (dice < 0.02) {
      counts.kills += 1;
      await world.crashDatabase();
    } else if (dice < 0.65 && rest().length > 0) {
      counts.kills += 1;
      await submitter.end('SIGKILL');
      collectAccepted(submitter, submits.accepted);
      submitter = await world.startSubmitter(rest(), { pauseMs });
    } else if (counts.kills < size.kills) {
      counts.kills += 1;
      await victim.child.end('SIGKILL');
      victim.child = await victim.start();
    }
    if (Math.random() < 0.2) counts.reindexes += await reindexed(world);
    if ((counts.kills + counts.stops) % 20 === 0)
      say(`${counts.kills} kills, ${counts.stops} stops, ${rest().length} submits left`);
  }
  world.proxy.share = 0;
  await submitter.exit();
  collectAccepted(submitter, submits.accepted);
  if (rest().length > 0) await world.submit(rest(), submits.accepted);
  await Promise.all(victims.map(({ child }) => child.end('SIGKILL')));
  const [dead] = await until(
    'the database answers',
    () => world.database.sql<{ count: number }[]>`
    select count(*)::int as count from retrieval.jobs where dead_lettered_at is not null`,
  );
  const faults = await finish(world, submits);
  return { ...counts, faults, lostCommits: world.proxy.lost(), deadLetters: dead?.count ?? 0 };
}

/** This time is longer than the lease of a worker in these tests. */
const pastLeaseMs = 1_500;

async function stopPastLease(worker: FollowedChild): Promise<void> {
  worker.signal('SIGSTOP');
  await pause(pastLeaseMs);
  worker.signal('SIGCONT');
}

/** Starts a reindex, unless a reindex is in progress or the database is unavailable. */
async function reindexed({ database, collectionId }: CrashWorld): Promise<number> {
  return startReindex(database, collectionId, undefined).then(
    () => 1,
    () => 0,
  );
}
