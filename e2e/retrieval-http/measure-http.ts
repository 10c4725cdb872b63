import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { groupObject } from '#relations/tenant-object';
import { startTestServer, type TestDatabase } from '#sql/testing/test-server';
import { groups, readCorpus } from '../retrieval-speed/chunks.ts';
import { fillDatabase } from '../retrieval-speed/fill-database.ts';
import { type Timings, timingsOf } from '../retrieval-speed/timings.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';

export type HttpCase = {
  readonly chunks: number;
  readonly dimensions: number;
  /** Requests of each kind, by all callers together. */
  readonly requests: number;
  /** Vectors that the offline model computes from the text of the chunks, or random vectors. */
  readonly vectors: 'of the text' | 'random';
  /** Address of an OpenSearch server that holds the index instead of the process. */
  readonly openSearch?: URL;
};

/** Latency of one kind of request, compared with the bare route of the same process. */
export type Rung = {
  readonly what: string;
  readonly callers: number;
  readonly times: Timings;
  /** p50 and p95 as multiples of the bare route in the same run. */
  readonly ratio: Timings;
};

type Ask = () => Promise<void>;

const callersOf = [1, 16] as const;
const warmUp = 16;
const rounds = 4;
/** Makes child processes exit with their parent. */
const untilParentEnds = { PORTCULLIS_EXIT_WITH_STDIN: '1' };
const profile = 'speed';
const tenant = 'acme';

/**
 * Measures requests over HTTP, in the order of the work that they include: a bare route with one select, a read of the
 * collection (caller and rights), a query by terms, an embedding alone, and hybrid queries without and with the call
 * for the embedding. Every answer is checked. The caller may see 5 % of the chunks.
 */
export async function measureHttp(given: HttpCase): Promise<readonly Rung[]> {
  await using server = await startTestServer();
  await using opened = await server.createDatabase();
  await using echo = await startProcess({ file: 'dataplane/echo/main.ts', environment: untilParentEnds });
  const collectionId = await fill(opened, given, echo.url);
  const rungs: Rung[] = [];
  for (const models of ['local', 'remote'] as const) {
    using folder = temporaryFolder();
    await using service = await startService(folder.path, opened, { given, echo, models });
    rungs.push(...(await measureService(service, { given, echo, models, collectionId })));
  }
  return rungs;
}

async function fill(
  { database }: TestDatabase,
  { chunks, dimensions, vectors }: HttpCase,
  echo: string,
): Promise<string> {
  const embed = async (texts: readonly string[]) => {
    const { body } = await post(`${echo}/v1/embeddings`, { model: profile, input: texts, dimensions });
    const { data } = body as { readonly data: readonly { readonly embedding: readonly number[] }[] };
    return data.map(({ embedding }) => Float32Array.from(embedding));
  };
  const labelOf = (group: number): string => groupObject(tenant, `group-${group}`);
  const partition = await fillDatabase(database, {
    chunks,
    dimensions,
    labelOf,
    ...(vectors === 'random' ? {} : { embed }),
  });
  await database.sql`
    update retrieval.collections set visibility = 'public', status = 'ready', chunk_count = ${chunks}`;
  return partition.slice(0, partition.indexOf('/'));
}

type Parts = { readonly given: HttpCase; readonly echo: RunningProcess; readonly models: 'local' | 'remote' };

async function startService(folder: string, opened: TestDatabase, { given, echo, models }: Parts) {
  const file = join(folder, 'models.yaml');
  const { dimensions } = given;
  writeFileSync(
    file,
    `embedding:\n  - { id: ${profile}, model: ${profile}, dimension: ${dimensions}, sendDimension: true }\n`,
  );
  return startProcess({
    file: 'e2e/retrieval-http/serve.ts',
    args: [models],
    environment: {
      ...untilParentEnds,
      PORTCULLIS_IDENTITY: 'development',
      PORTCULLIS_ROLE: 'api',
      PORTCULLIS_DATABASE_URL: opened.url,
      PORTCULLIS_DATABASE_PASSWORD_FILE: opened.passwordFile,
      PORTCULLIS_MODEL_GATEWAY_URL: echo.url,
      PORTCULLIS_MODELS_FILE: file,
      PORTCULLIS_OBJECTS_DIR: join(folder, 'objects'),
      PORTCULLIS_INDEX_MIB: '1024',
      PORTCULLIS_LOG_LEVEL: 'error',
      ...(given.openSearch === undefined ? {} : { PORTCULLIS_OPENSEARCH_URL: given.openSearch.href }),
    },
  });
}

async function measureService(
  service: RunningProcess,
  { given, echo, models, collectionId }: Parts & { readonly collectionId: string },
): Promise<readonly Rung[]> {
  const headers = { 'x-tenant-id': tenant, 'x-user-id': 'ann', 'x-groups': `group-${groups - 1}` };
  const { questions } = readCorpus();
  let asked = 0;
  const next = (): string => questions[asked++ % questions.length] ?? '';
  const query = async (mode: string): Promise<number> => {
    const body = { collection: collectionId, text: next(), mode, top_k: 10 };
    const answer = await post(`${service.url}/v1/query`, body, headers);
    if (answer.status !== 200) return answer.status;
    const { items } = answer.body as { readonly items: readonly unknown[] };
    // The terms of a question may occur in no chunk, but vector search always finds chunks.
    if (mode === 'hybrid' && items.length !== 10) throw new Error(`a query has ${items.length} of 10 items`);
    return 200;
  };
  const orThrow = async (what: string, status: Promise<number>): Promise<void> => {
    if ((await status) !== 200) throw new Error(`${what} was answered ${await status}`);
  };
  const get = async (url: string): Promise<void> => {
    const { statusCode, body } = await request(url, { headers, dispatcher });
    await body.dump();
    if (statusCode !== 200) throw new Error(`${url} was answered ${statusCode}`);
  };
  const isLoaded = async (): Promise<boolean> => {
    const body = { collection: collectionId, text: 'год', mode: 'bm25' };
    return (await post(`${service.url}/v1/query`, body, headers)).status === 200;
  };
  await until('the index is loaded', isLoaded, { deadlineMs: 120_000 });
  const bare = String(service.ready['bare']);
  const embedding = async (): Promise<number> => {
    const body = { model: profile, input: [next()], dimensions: given.dimensions };
    return (await post(`${echo.url}/v1/embeddings`, body)).status;
  };
  const hybrid: Ask = () => orThrow('a hybrid query', query('hybrid'));
  const kinds: readonly (readonly [string, Ask])[] =
    models === 'local'
      ? [['hybrid query without the embedding call', hybrid]]
      : [
          ['read of the collection', () => get(`${service.url}/v1/collections/${collectionId}`)],
          ['query by terms', () => orThrow('a query by terms', query('bm25'))],
          ['embedding alone', () => orThrow('an embedding', embedding())],
          ['hybrid query with the embedding call', hybrid],
        ];
  const rungs: Rung[] = [];
  for (const callers of callersOf) {
    const all = [[`bare route with one select (${models} vectors)`, () => get(bare)] as const, ...kinds];
    const best = await bestOf(all, { callers, requests: given.requests });
    const base = best[0] as Timings;
    for (const [at, [what]] of all.entries()) {
      const times = best[at] as Timings;
      rungs.push({ what, callers, times, ratio: { p50: times.p50 / base.p50, p95: times.p95 / base.p95 } });
    }
  }
  return rungs;
}

type Load = { readonly callers: number; readonly requests: number };

/**
 * Measures each kind in successive rounds, so that other programs of the machine slow down all kinds equally. The
 * result is the smallest p50 and p95 of all rounds.
 */
async function bestOf(
  kinds: readonly (readonly [string, Ask])[],
  { callers, requests }: Load,
): Promise<readonly Timings[]> {
  const best = kinds.map(() => ({ p50: Number.POSITIVE_INFINITY, p95: Number.POSITIVE_INFINITY }));
  for (const [, ask] of kinds) for (let no = 0; no < warmUp; no += 1) await ask();
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, [, ask]] of kinds.entries()) {
      const { p50, p95 } = await timed(ask, { callers, requests: requests / rounds });
      const held = best[at] as Timings;
      best[at] = { p50: Math.min(held.p50, p50), p95: Math.min(held.p95, p95) };
    }
  }
  return best;
}

/** Each caller sends its next request when the previous request is answered. */
async function timed(ask: Ask, { callers, requests }: Load): Promise<Timings> {
  const times: number[] = [];
  const call = async (): Promise<void> => {
    for (let no = 0; no < requests / callers; no += 1) {
      const start = performance.now();
      await ask();
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return timingsOf(times);
}

const dispatcher = new Agent({ connections: Math.max(...callersOf), keepAliveTimeout: 30_000 });

async function post(url: string, content: unknown, headers: Readonly<Record<string, string>> = {}) {
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(content),
    dispatcher,
  });
  return { status: statusCode, body: await body.json() };
}
