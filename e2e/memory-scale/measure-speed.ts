import { until } from '#kit/testing/until';
import { startTestServer } from '#sql/testing/test-server';
import { type Timings, timingsOf } from '../retrieval-speed/timings.ts';
import { startFile } from '../support/start-process.ts';
import { fillMemories, measured, scaleTenant, scaleText } from './fill-memories.ts';
import { type ScaleService, startScaleService } from './scale-service.ts';

type MemorySpeedSize = { readonly memories: number; readonly rounds: number; readonly adds: number };

type SpeedReport = {
  /** Milliseconds of the same exchange with a server that only reads and returns JSON, in the same run. */
  readonly bare: Timings;
  readonly search: Timings;
  /** Time from the request of an add until a search finds its memory. */
  readonly searchable: Timings;
  /** Throughput of adds of many persons, measured until the last event has ended. */
  readonly addsPerSecond: number;
};

const dimension = 384;
const lanes = 8;

/** Measures one process with both roles, compared with an empty response of the framework. */
export async function measureMemorySpeed({ memories, rounds, adds }: MemorySpeedSize): Promise<SpeedReport> {
  await using server = await startTestServer();
  await using database = await server.createDatabase();
  await fillMemories(database.database, {
    ...{ dimension, memories, equals: 0, others: 20, memoriesOfOther: Math.min(100, memories) },
  });
  await using service = await startScaleService(database, dimension, 'both');
  const bareServer = startFile({ file: 'e2e/bench/echo-server.ts', environment: {} });
  await using _bare = { [Symbol.asyncDispose]: async () => void (await bareServer.end()) };
  const { listening } = JSON.parse(await bareServer.listens('the bare server')) as { readonly listening: string };
  const times = { bare: [] as number[], search: [] as number[], searchable: [] as number[] };
  // The measurements alternate, so that other load affects all of them. The first round is the warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    const query = scaleText(round).split(' ').slice(1, 6).join(' ');
    const bare = await timed(() => fetchJson(`${listening}/request`, { query }));
    const search = await service.search(measured, { query });
    if (search.found === 0) throw new Error('a search for words of stored memories found none');
    const searchable = await timed(() => addUntilFound(service, round));
    if (round === 0) continue;
    times.bare.push(bare);
    times.search.push(search.ms);
    times.searchable.push(searchable);
  }
  const addsPerSecond = await measureAdds(service, database.database.sql, adds);
  return {
    bare: timingsOf(times.bare),
    search: timingsOf(times.search),
    searchable: timingsOf(times.searchable),
    addsPerSecond,
  };
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

async function fetchJson(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const sent = { 'content-type': 'application/json', ...headers };
  const answer = await fetch(url, { method: 'POST', headers: sent, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url} was answered ${answer.status}`);
  return answer.json();
}

function addAs(service: ScaleService, user: string, content: string): Promise<unknown> {
  const body = { agent_id: 'agent-0', infer: false, messages: [{ role: 'user', content }] };
  return fetchJson(`${service.url}/v1/memories`, body, { 'x-tenant-id': scaleTenant, 'x-user-id': user });
}

async function addUntilFound(service: ScaleService, round: number): Promise<void> {
  const user = `adding-${round}`;
  await addAs(service, user, `remembered ${round}`);
  await until('the memory is found', async () => (await service.search(user, { query: 'remembered' })).found > 0, {
    everyMs: 2,
  });
}

async function measureAdds(
  service: ScaleService,
  sql: Parameters<typeof fillMemories>[0]['sql'],
  adds: number,
): Promise<number> {
  const start = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (next < adds) {
        next += 1;
        await addAs(service, `person-${next % 50}`, `I like number${next}.`);
      }
    }),
  );
  await until('every event has ended', async () => {
    const [row] = await sql<{ open: number }[]>`
      select count(*)::int as open from memory.events where status in ('PENDING', 'RUNNING')`;
    return row?.open === 0;
  });
  return adds / ((performance.now() - start) / 1_000);
}
