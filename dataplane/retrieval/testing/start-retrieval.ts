import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IngestJob } from '#contracts/retrieval';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import type { TestDatabase } from '#sql/testing/test-server';
import type { RetrievalConfig } from '../config.ts';
import { scriptedModels, testProfile } from '../ingest/testing/scripted-models.ts';
import { unwrittenLogger } from '../ingest/testing/unwritten-logger.ts';
import { createRetrievalService, type RetrievalOverrides } from '../service.ts';

/** The caller of a request, named by the headers of development mode. */
export type TestCaller = {
  readonly user?: string;
  readonly tenant?: string;
  readonly groups?: readonly string[];
  readonly principals?: readonly string[];
  readonly agent?: string;
};

type TestAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Readonly<Record<string, unknown>>;
};

export type OpenedRetrieval = AsyncDisposable & {
  readonly url: string;
  readonly adminUrl: string;
  readonly internalUrl: string | undefined;
  /** Sends a GET, or a POST if there is a body. */
  call(caller: TestCaller, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
  send(caller: TestCaller, method: 'DELETE' | 'PATCH' | 'POST', path: string, body?: unknown): Promise<TestAnswer>;
  /** Submits documents and waits until each of their jobs is DONE or FAILED. */
  ingest(caller: TestCaller, documents: readonly object[]): Promise<readonly IngestJob[]>;
};

export type RetrievalParts = { readonly overrides?: RetrievalOverrides; readonly config?: Partial<RetrievalConfig> };

/** The service over a database, with a folder and scripted models, in development mode. */
export async function startRetrieval(
  opened: Pick<TestDatabase, 'url' | 'passwordFile'>,
  options: RetrievalParts = {},
): Promise<OpenedRetrieval> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder());
  const modelsFile = join(folder.path, 'models.yaml');
  const { id, model, dimension } = testProfile;
  const profiles = [
    { name: id, size: dimension },
    { name: 'other-profile', size: dimension },
    { name: 'long-profile', size: 64 * dimension },
  ].map(({ name, size }) => `  - { id: ${name}, model: ${model}, dimension: ${size} }\n`);
  await writeFile(modelsFile, `embedding:\n${profiles.join('')}`);
  const listen = { host: '127.0.0.1', port: 0 };
  const service = parts.use(
    await createRetrievalService(
      {
        listen,
        adminListen: listen,
        internal: undefined,
        role: 'both',
        identity: { mode: 'development' },
        databaseUrl: opened.url,
        relations: { kind: 'postgres' },
        modelGateway: new URL('http://127.0.0.1:9'),
        modelsFile,
        guard: 'unguarded',
        stores: {
          nats: undefined,
          objects: { kind: 'folder', directory: join(folder.path, 'objects') },
          s3: undefined,
          contentSourcesFile: undefined,
          openSearch: undefined,
        },
        indexBytes: 64 * 1_048_576,
        ingestConcurrency: 2,
        tenantQuota: { collections: 10_000, documents: 100_000, openJobs: 10_000, bytes: 2 ** 40 },
        emptyAclPolicy: 'reject',
        auditDays: 400,
        auditExport: { webhook: undefined, otlp: undefined },
        traces: undefined,
        logLevel: 'error',
        ...options.config,
      },
      { databasePasswordFile: opened.passwordFile, openFgaTokenFile: undefined, modelGatewayTokenFile: undefined },
      { logger: unwrittenLogger, models: scriptedModels(), times: { pollMs: 200 }, ...options.overrides },
    ),
  );
  const url = service.url ?? '';
  const exchange = async (path: string, request: RequestInit): Promise<TestAnswer> => {
    const answer = await fetch(`${url}${path}`, request);
    return { status: answer.status, headers: answer.headers, json: (await answer.json()) as TestAnswer['json'] };
  };
  const contentOf = (body: unknown) =>
    body === undefined ? {} : { body: JSON.stringify(body), type: { 'content-type': 'application/json' } };
  const send: OpenedRetrieval['send'] = (caller, method, path, json) => {
    const { body, type } = contentOf(json);
    return exchange(path, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: { ...headersOf(caller), ...type },
    });
  };
  const call: OpenedRetrieval['call'] = (caller, path, json, headers = {}) => {
    const { body, type } = contentOf(json);
    const sent = body === undefined ? {} : { method: 'POST', body };
    return exchange(path, { ...sent, headers: { ...headersOf(caller), ...type, ...headers } });
  };
  const owned = parts.move();
  return {
    url,
    adminUrl: service.adminUrl,
    internalUrl: service.internalUrl,
    call,
    send,
    async ingest(caller, documents) {
      const { status, json } = await call(caller, '/v1/documents:submit', { documents });
      if (status !== 202) throw new Error(`the submit was answered ${status}: ${JSON.stringify(json)}`);
      const jobs = json['jobs'] as readonly { readonly job_id: string }[];
      return Promise.all(
        jobs.map(({ job_id }) =>
          until('the job has ended', async () => {
            const job = (await call(caller, `/v1/jobs/${job_id}`)).json as unknown as IngestJob;
            return job.status === 'DONE' || job.status === 'FAILED' ? job : undefined;
          }),
        ),
      );
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function headersOf({ tenant = 'acme', user, groups, principals, agent }: TestCaller): Record<string, string> {
  return {
    'x-tenant-id': tenant,
    ...(user === undefined ? {} : { 'x-user-id': user }),
    ...(groups === undefined ? {} : { 'x-groups': groups.join(',') }),
    ...(principals === undefined ? {} : { 'x-principals': principals.join(',') }),
    ...(agent === undefined ? {} : { 'x-agent-id': agent }),
  };
}

let made = 0;

/** A document in the form of a submit; every call has another key. */
export function documentOf(collection: string, docId: string, text: string, more: object = {}): object {
  made += 1;
  return {
    collection,
    tenant_id: 'acme',
    doc_id: docId,
    content: { title: `Title of ${docId}`, sections: [{ heading: 'Part', text }] },
    acl: { groups: ['staff'] },
    content_hash: `hash-${made}`,
    idempotency_key: `key-${made}`,
    ...more,
  };
}
