import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import type { EmbeddingProfile, Models } from '#models/ports';
import type { TestDatabase } from '#sql/testing/test-server';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import type { MemoryConfig } from '../config.ts';
import { createMemoryService, type MemoryOverrides } from '../service.ts';

/** The caller of a request, named by the headers of development mode. */
type TestCaller = { readonly user?: string; readonly tenant?: string };

type TestAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Readonly<Record<string, unknown>>;
};

export type OpenedMemory = AsyncDisposable & {
  readonly url: string;
  readonly adminUrl: string;
  readonly database: TestDatabase;
  call(
    caller: TestCaller,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<TestAnswer>;
  /** Adds messages and waits until the event has ended. */
  add(caller: TestCaller, body: object): Promise<Readonly<Record<string, unknown>>>;
  /** Adds a message of a user to the agent `tutor`. */
  say(caller: TestCaller, ...texts: readonly string[]): Promise<Readonly<Record<string, unknown>>>;
  /** Texts of the memories that a search finds, best first. */
  find(caller: TestCaller, query: string, more?: object): Promise<readonly string[]>;
  /** Texts of all memories of the caller, the newest first. */
  all(caller: TestCaller): Promise<readonly string[]>;
};

export type MemoryParts = { readonly overrides?: MemoryOverrides; readonly config?: Partial<MemoryConfig> };

const testProfile: Pick<EmbeddingProfile, 'id' | 'dimension'> = { id: 'words', dimension: 64 };

/** The service over a database, with models that return similar vectors for texts with equal words. */
export async function startMemory(database: TestDatabase, options: MemoryParts = {}): Promise<OpenedMemory> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder());
  const modelsFile = join(folder.path, 'models.yaml');
  await writeFile(
    modelsFile,
    `embedding:\n  - { id: ${testProfile.id}, model: words, dimension: ${testProfile.dimension} }\n`,
  );
  const listen = { host: '127.0.0.1', port: 0 };
  const models: Models = hashedWords();
  const service = parts.use(
    await createMemoryService(
      {
        listen,
        adminListen: listen,
        role: 'both',
        identity: { mode: 'development' },
        databaseUrl: database.url,
        modelGateway: new URL('http://127.0.0.1:9'),
        modelsFile,
        embeddingProfile: testProfile.id,
        extractionModel: undefined,
        guard: 'unguarded',
        indexBytes: 64 * 1_048_576,
        eventConcurrency: 2,
        quota: { userMemories: 100_000, tenantUsers: 100_000, tenantOpenEvents: 10_000 },
        auditDays: 400,
        auditExport: { webhook: undefined, otlp: undefined },
        traces: undefined,
        logLevel: 'error',
        ...options.config,
      },
      { databasePasswordFile: database.passwordFile, modelGatewayTokenFile: undefined },
      { models, times: { pollMs: 100, maintainMs: 200 }, ...options.overrides },
    ),
  );
  const url = service.url ?? '';
  const call: OpenedMemory['call'] = async (caller, method, path, json, headers = {}) => {
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const type = json === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, {
      method,
      ...body,
      headers: { ...headersOf(caller), ...type, ...headers },
    });
    return { status: answer.status, headers: answer.headers, json: (await answer.json()) as TestAnswer['json'] };
  };
  const add: OpenedMemory['add'] = async (caller, request) => {
    const { status, json } = await call(caller, 'POST', '/v1/memories', request);
    if (status !== 202) throw new Error(`the add was answered ${status}: ${JSON.stringify(json)}`);
    return until('the event has ended', async () => {
      const event = (await call(caller, 'GET', `/v1/events/${json['event_id']}`)).json;
      return event['status'] === 'PENDING' ? undefined : event;
    });
  };
  const owned = parts.move();
  return {
    url,
    adminUrl: service.adminUrl,
    database,
    call,
    add,
    say: (caller, ...texts) =>
      add(caller, { agent_id: 'tutor', messages: texts.map((content) => ({ role: 'user', content })) }),
    async find(caller, query, more = {}) {
      const { status, json } = await call(caller, 'POST', '/v1/memories/search', { query, ...more });
      if (status !== 200) throw new Error(`the search was answered ${status}: ${JSON.stringify(json)}`);
      return (json['results'] as readonly { readonly memory: string }[]).map(({ memory }) => memory);
    },
    async all(caller) {
      const { json } = await call(caller, 'GET', `/v1/memories?user_id=${caller.user ?? ''}&page_size=200`);
      return (json['results'] as readonly { readonly memory: string }[]).map(({ memory }) => memory);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function headersOf({ tenant = 'acme', user }: TestCaller): Record<string, string> {
  return { 'x-tenant-id': tenant, ...(user === undefined ? {} : { 'x-user-id': user }) };
}
