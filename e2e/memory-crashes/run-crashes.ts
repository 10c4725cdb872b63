import { setTimeout as pause } from 'node:timers/promises';
import { until } from '#kit/testing/until';
import { eventSteps } from '../../dataplane/memory/events/process-event.ts';
import { auditMemories, type MemoryAudit } from './audit-memories.ts';
import { type CrashAdd, crashAdds } from './crash-adds.ts';
import { crashParts, endLeases, type MemoryCrashes } from './memory-world.ts';
import { type Accepted, callMemory, sendAdd, sendAdds } from './send-adds.ts';

const steps = ['registered', ...eventSteps] as const;

/** Waits until every event has ended, and skips the backoff after faults. */
async function drained({ database }: MemoryCrashes): Promise<void> {
  await until('every event has ended', async () => {
    const [row] = await database.sql<{ open: number }[]>`
        select count(*)::int as open from memory.events where status in ('PENDING', 'RUNNING')`;
    if (row?.open === 0) return true;
    // This pause is longer than an event takes, so that its worker can complete it.
    await pause(3_000);
    await endLeases(database);
    return false;
  });
}

/** Kills a process right after each named step; other processes complete its work. */
export async function killMemoryAtSteps(
  world: MemoryCrashes,
  accepted: Accepted,
): Promise<MemoryAudit & { readonly kills: number; readonly adds: number }> {
  const adds: CrashAdd[] = [];
  await world.endWorkers();
  for (const step of steps) {
    const own = crashAdds(step, 8, 2);
    adds.push(...own);
    const [first, ...others] = own as readonly [CrashAdd, ...CrashAdd[]];
    const doomed = await world.startDoomed(step === 'registered' ? 'api' : 'worker', {
      ...{ step, occurrence: step === 'registered' ? 1 : 2, signal: 'SIGKILL' },
    });
    // The first request is sent to the API that is killed, and its retry to the other API.
    const origins = step === 'registered' ? [doomed.url] : [];
    await sendAdd(() => origins.pop() ?? world.url, first, accepted);
    await sendAdds(() => world.url, others, accepted);
    await until(`a process reaches ${step}`, () => doomed.output().includes('"reached"'));
    await doomed.exit();
  }
  await world.startWorkers();
  await endLeases(world.database);
  await drained(world);
  return { ...(await auditMemories(world.database, adds, accepted)), kills: steps.length, adds: adds.length };
}

type ChurnSize = { readonly adds: number; readonly persons: number; readonly kills: number };

type ChurnResult = MemoryAudit & {
  readonly kills: Readonly<Record<string, number>>;
  readonly lostCommits: number;
  /** Number of search results while parts were killed, and of those that lacked an earlier memory. */
  readonly answers: number;
  readonly incomplete: number;
};

/**
 * Adds under random kills of API, workers and database, with lost commits. The adds are spread over the kills: each
 * kill starts the next share of them.
 */
export async function churnAdds(
  world: MemoryCrashes,
  accepted: Accepted,
  size: ChurnSize,
  say: (progress: string) => void,
): Promise<ChurnResult> {
  const adds = crashAdds('churn', size.adds, size.persons);
  const kills: Record<string, number> = {};
  const over = new AbortController();
  const counts = { answers: 0, incomplete: 0 };
  const early = crashAdds('early', 4, 1);
  await sendAdds(() => world.url, early, accepted);
  await drained(world);
  world.proxy.share = 0.01;
  const searching = searchAll(world, over.signal, counts);
  let done = 0;
  using _end = { [Symbol.dispose]: () => over.abort() };
  const mayBegin = (position: number): boolean => position < ((done + 1) / size.kills) * size.adds;
  const sending = sendAdds(
    () => world.url,
    adds,
    accepted,
    async (position) => {
      while (!mayBegin(position) && !over.signal.aborted) await pause(20);
    },
    over.signal,
  );
  // If a part does not restart, that failure is reported instead of the adds that fail because of it.
  sending.catch(() => undefined);
  for (; done < size.kills; done += 1) {
    await pause(50 + Math.random() * 250);
    const part = crashParts[Math.floor(Math.random() * crashParts.length)] as (typeof crashParts)[number];
    kills[part] = (kills[part] ?? 0) + 1;
    await world.crash(part, Math.random() * 300);
    if (done % 20 === 19) say(`${done + 1} kills, ${accepted.size} adds accepted`);
  }
  await sending;
  world.proxy.share = 0;
  await endLeases(world.database);
  await drained(world);
  const answered = counts.answers;
  await until('a search is answered after the last kill', () => counts.answers > answered);
  over.abort();
  await searching;
  const audit = await auditMemories(world.database, [...early, ...adds], accepted);
  const faults = [...audit.faults, ...(await notFound(world.url, audit.expected))];
  return { ...audit, ...counts, faults, kills, lostCommits: world.proxy.lost() };
}

/** A fault for each memory of a successful add that a search for its text does not find. */
async function notFound(url: string, expected: MemoryAudit['expected']): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [user, texts] of expected) {
    for (const text of texts) {
      const body = { query: text, mode: 'bm25', top_k: 100 };
      const answer = await callMemory(url, { user, path: '/v1/memories/search', body });
      const found = (answer?.json['results'] ?? []) as readonly { readonly memory: string }[];
      if (!found.some(({ memory }) => memory === text)) faults.push(`${user}: not found (${answer?.status}): ${text}`);
    }
  }
  return faults;
}

/** Searches for memories that existed before the first kill: every answer must contain them, but a request may fail. */
async function searchAll(
  world: MemoryCrashes,
  signal: AbortSignal,
  counts: { answers: number; incomplete: number },
): Promise<void> {
  while (!signal.aborted) {
    const body = { query: 'note early0 one', top_k: 10 };
    const answer = await callMemory(world.url, { user: 'early-0', path: '/v1/memories/search', body });
    if (answer?.status === 200) {
      counts.answers += 1;
      const found = answer.json['results'] as readonly { readonly memory: string }[];
      if (!found.some(({ memory }) => memory === 'note early0 one.')) counts.incomplete += 1;
    }
    await pause(30);
  }
}
