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
  readonly searchable: ByReading<Timings>;
  /** Throughput of adds of many persons, measured until the last event has ended. */
  readonly addsPerSecond: ByReading<number>;
};

/** `asGiven`: messages are stored unchanged; `read`: the deterministic reader extracts the facts of the user. */
type ByReading<T> = { readonly asGiven: T; readonly read: T };

const dimension = 384;
const lanes = 8;
const personsOfAdds = 50;

/** Measures one process with both roles, compared with an empty response of the framework. */
export async function measureMemorySpeed({ memories, rounds, adds }: MemorySpeedSize): Promise<SpeedReport> {
  await using server = await startTestServer();
  await using database = await server.createDatabase();
  await fillMemories(database.database, {
    ...{ dimension, memories, equals: 0, others: 20, memoriesOfOther: Math.min(100, memories), small: 0 },
  });
  await using service = await startScaleService(database, dimension, 'both');
  const bareServer = startFile({ file: 'e2e/bench/echo-server.ts', environment: {} });
  await using _bare = { [Symbol.asyncDispose]: async () => void (await bareServer.end()) };
  const { listening } = JSON.parse(await bareServer.listens('the bare server')) as { readonly listening: string };
  const times = { bare: [] as number[], search: [] as number[], asGiven: [] as number[], read: [] as number[] };
  // The measurements alternate, so that other load affects all of them. The first round is the warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    const query = scaleText(round).split(' ').slice(1, 6).join(' ');
    const bare = await timed(() => fetchJson(`${listening}/request`, { query }));
    const search = await service.search(measured, { query });
    if (search.found === 0) throw new Error('a search for words of stored memories found none');
    const asGiven = await timed(() => addUntilFound(service, `given-${round}`, { infer: false }));
    const read = await timed(() => addUntilFound(service, `read-${round}`, { infer: true }));
    if (round === 0) continue;
    times.bare.push(bare);
    times.search.push(search.ms);
    times.asGiven.push(asGiven);
    times.read.push(read);
  }
  const addsPerSecond = {
    asGiven: await measureAdds(service, database.database.sql, { adds, infer: false }),
    read: await measureAdds(service, database.database.sql, { adds, infer: true }),
  };
  return {
    bare: timingsOf(times.bare),
    search: timingsOf(times.search),
    searchable: { asGiven: timingsOf(times.asGiven), read: timingsOf(times.read) },
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

type Added = { readonly user: string; readonly content: string; readonly infer: boolean };

function addAs(service: ScaleService, { user, content, infer }: Added): Promise<unknown> {
  const body = { agent_id: 'agent-0', infer, messages: [{ role: 'user', content }] };
  return fetchJson(`${service.url}/v1/memories`, body, { 'x-tenant-id': scaleTenant, 'x-user-id': user });
}

async function addUntilFound(service: ScaleService, user: string, { infer }: Pick<Added, 'infer'>): Promise<void> {
  await addAs(service, { user, content: 'I like chess.', infer });
  await until('the memory is found', async () => (await service.search(user, { query: 'chess' })).found > 0, {
    everyMs: 2,
  });
}

async function measureAdds(
  service: ScaleService,
  sql: Parameters<typeof fillMemories>[0]['sql'],
  { adds, infer }: Pick<Added, 'infer'> & { readonly adds: number },
): Promise<number> {
  const start = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (next < adds) {
        next += 1;
        const user = `${infer ? 'reader' : 'person'}-${next % personsOfAdds}`;
        await addAs(service, { user, content: `I like number${next}.`, infer });
      }
    }),
  );
  await until('every event has ended', async () => {
    const [row] = await sql<{ open: number }[]>`
      select count(*)::int as open from memory.events where status in ('PENDING', 'RUNNING')`;
    return row?.open === 0;
  });
  const seconds = (performance.now() - start) / 1_000;
  const [stored] = await sql<{ memories: number }[]>`
    select count(*)::int as memories from memory.memories where text like 'I like number%'`;
  const expected = infer ? 2 * adds : adds;
  if (stored?.memories !== expected) throw new Error(`${stored?.memories} of ${expected} added memories are stored`);
  return adds / seconds;
}
