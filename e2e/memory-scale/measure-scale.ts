import { startTestServer } from '#sql/testing/test-server';
import { type Timings, timingsOf } from '../retrieval-speed/timings.ts';
import { randomFrom } from '../support/random-from.ts';
import { fillMemories, measured, memoriesOfSmall, type StoreSize, scaleText } from './fill-memories.ts';
import { type ScaleService, startScaleService } from './scale-service.ts';

export type ScaleSize = StoreSize & { readonly queries: number };

/** Whether the measured process only serves requests, or also maintains and packs the store meanwhile. */
export type ScaleRole = 'api' | 'both';

type ScaleReport = {
  readonly queries: number;
  readonly found: number;
  /** Memories of other persons that a search returned. */
  readonly foreign: number;
  /** Persons with few memories whose search returned other memories than theirs, or not all of them. */
  readonly wrong: number;
  /** First searches of persons with as many memories as the measured person. */
  readonly cold: Timings;
  readonly warm: Timings;
  /** Warm searches with a token budget into which few memories fit. */
  readonly budgeted: Timings;
  /** The same kinds of searches in a store that contains only the memories of the measured person. */
  readonly alone: Timings;
  /** Resident memory in MiB: at the start, and the peak. */
  readonly residentAtStart: number;
  readonly residentMost: number;
};

const warmSearches = 400;
/** Number of concurrent queries of the persons with few memories, and of concurrent random queries. */
const callers = 4;

/** Measures searches of one person among many, with a real PostgreSQL and in a separate process. */
export async function measureScale(
  size: ScaleSize,
  role: ScaleRole,
  say: (progress: string) => void,
): Promise<ScaleReport> {
  await using server = await startTestServer();
  const random = randomFrom(17);
  const query = (): string =>
    scaleText(Math.floor(random() * size.memories))
      .split(' ')
      .slice(1, 6)
      .join(' ');
  const warmTimes = async (service: ScaleService, request: object = {}): Promise<Timings> => {
    const times: number[] = [];
    for (let no = 0; no < warmSearches; no += 1) {
      times.push((await service.search(measured, { query: query(), ...request })).ms);
    }
    return timingsOf(times.slice(warmSearches / 4));
  };
  let alone: Timings;
  {
    await using database = await server.createDatabase();
    await fillMemories(database.database, { ...size, equals: 0, others: 0, small: 0 });
    await using service = await startScaleService(database, size.dimension, role);
    alone = await warmTimes(service);
    say(`alone: warm p50 ${alone.p50.toFixed(1)} ms, p95 ${alone.p95.toFixed(1)} ms`);
  }
  await using database = await server.createDatabase();
  await fillMemories(database.database, size);
  say('the store is filled');
  await using service = await startScaleService(database, size.dimension, role);
  const residentAtStart = service.resident();
  let residentMost = 0;
  const sample = (): void => {
    residentMost = Math.max(residentMost, service.resident());
  };
  // A new process compiles its code during the first requests.
  for (let no = 0; no < Math.min(20, size.others); no += 1) await service.search(`other-${no}`, { query: query() });
  const few = { next: 0, wrong: 0 };
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (few.next < size.small) {
        const at = few.next;
        few.next += 1;
        const { owners } = await service.search(`small-${at}`, { query: query() });
        const own = owners.filter((owner) => owner === `small-${at}`);
        if (own.length !== owners.length || own.length !== memoriesOfSmall(at)) few.wrong += 1;
        sample();
      }
    }),
  );
  say(`${size.small} persons with few memories: ${few.wrong} wrong, resident ${residentMost.toFixed(0)} MiB`);
  const coldTimes: number[] = [];
  for (let no = 0; no < size.equals; no += 1) {
    coldTimes.push((await service.search(`equal-${no}`, { query: query() })).ms);
    sample();
  }
  const cold = timingsOf(coldTimes);
  say(`cold p50 ${cold.p50.toFixed(1)} ms, p95 ${cold.p95.toFixed(1)} ms`);
  const warm = await warmTimes(service);
  say(`warm p50 ${warm.p50.toFixed(1)} ms, p95 ${warm.p95.toFixed(1)} ms`);
  const budgeted = await warmTimes(service, { top_k: 100, token_budget: 100 });
  say(`with a token budget p50 ${budgeted.p50.toFixed(1)} ms, p95 ${budgeted.p95.toFixed(1)} ms`);
  const counts = { found: 0, foreign: 0, left: size.queries };
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (counts.left > 0) {
        counts.left -= 1;
        const user = random() < 0.8 ? measured : personOf(random(), size);
        const { owners } = await service.search(user, requestOf(random, query()));
        counts.found += owners.length;
        counts.foreign += owners.filter((owner) => owner !== user).length;
        sample();
      }
    }),
  );
  const { wrong } = few;
  return { ...counts, wrong, queries: size.queries, cold, warm, budgeted, alone, residentAtStart, residentMost };
}

const budgets = [{}, {}, { token_budget: 30 }, { token_budget: 100 }, { token_budget: 1_000 }] as const;

function personOf(share: number, { equals, others }: ScaleSize): string {
  const at = Math.floor(share * (equals + others));
  return at < equals ? `equal-${at}` : `other-${at - equals}`;
}

/** A query of a random mode with random filters; no filter may add results. */
function requestOf(random: () => number, query: string): object {
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const filters = oneOf([
    {},
    { agent_id: `agent-${oneOf([0, 1, 2])}` },
    { OR: [{ categories: { contains: `kind-${oneOf([0, 1, 2, 3, 4])}` } }, { agent_id: 'agent-0' }] },
    { NOT: [{ agent_id: 'agent-1' }] },
    { metadata: { owner: { ne: 'nobody' } } },
  ]);
  return { query, mode: oneOf(['hybrid', 'semantic', 'bm25']), top_k: oneOf([1, 10, 100]), filters, ...oneOf(budgets) };
}
