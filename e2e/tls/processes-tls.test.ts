import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { failure } from '#api/operation';
import { createRequestMetrics } from '#api/request-metrics';
import { serveApi } from '#api/serve-api';
import { ConfigError } from '#kit/env/config-error';
import type { ListenAddress } from '#kit/env/service-settings';
import { createLogger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { readConfig as readCatalogue } from '../../dataplane/catalogue/config.ts';
import { readConfig as readConsole } from '../../dataplane/console/config.ts';
import { createConsoleService } from '../../dataplane/console/service.ts';
import { readConfig as readGateway } from '../../dataplane/gateway/config.ts';
import { readConfig as readMemory } from '../../dataplane/memory/config.ts';
import { readConfig as readRetrieval } from '../../dataplane/retrieval/config.ts';
import { noteTable } from '../../libraries/api/testing/note-service.ts';
import { readConfig as readManagement } from '../../operator/management/config.ts';
import { alias, startGuardedGateway } from '../support/start-guarded-gateway.ts';
import { startFile } from '../support/start-process.ts';
import { mountPair } from './mounted-pair.ts';
import { askTls, newPair, serialOf } from './tls-client.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const file = join(folder.path, 'file');
writeFileSync(file, Buffer.alloc(32, 7).toString('base64url'));

/** The settings that each process requires, without the settings of TLS. */
const environment = {
  PORTCULLIS_API_URL: 'https://api.example',
  PORTCULLIS_API_TOKEN_FILE: file,
  PORTCULLIS_REPLICA: 'gateway-1',
  PORTCULLIS_CLIENT_KEYS_FILE: file,
  PORTCULLIS_RUNTIME_TOKEN_FILE: file,
  PORTCULLIS_GUARD_TARGET_FILE: file,
  PORTCULLIS_SECRETS_DIR: folder.path,
  PORTCULLIS_IDENTITY: 'production',
  PORTCULLIS_ISSUERS_FILE: file,
  PORTCULLIS_ENVIRONMENT_DIR: folder.path,
  PORTCULLIS_DATABASE_URL: 'postgres://me@localhost:5432/portcullis',
  PORTCULLIS_DATABASE_PASSWORD_FILE: file,
  PORTCULLIS_MODEL_GATEWAY_URL: 'http://gateway:8080',
  PORTCULLIS_MODELS_FILE: '/etc/portcullis/models.yaml',
  PORTCULLIS_OBJECTS_DIR: folder.path,
  PORTCULLIS_CURSOR_KEY_FILE: file,
  PORTCULLIS_COOKIE_KEY_FILE: file,
  PORTCULLIS_OIDC_ISSUER_URL: 'https://login.example',
  PORTCULLIS_MANAGEMENT_URL: 'http://management',
};

type ReadListen = (env: NodeJS.ProcessEnv) => { readonly config: { readonly listen: ListenAddress } };
const readers: readonly [string, ReadListen][] = [
  ['gateway', (env) => readGateway({ ...env, PORTCULLIS_ISSUERS_FILE: undefined, PORTCULLIS_DATABASE_URL: undefined })],
  ['management', readManagement],
  ['console', readConsole],
  ['retrieval', readRetrieval],
  ['memory', readMemory],
  ['catalogue', readCatalogue],
];

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe.each(readers)('the settings of %s', (_name, read) => {
  test('a process with a certificate and a key serves TLS to clients, and a process without both does not', () => {
    const files = { PORTCULLIS_TLS_CERTIFICATE_FILE: file, PORTCULLIS_TLS_KEY_FILE: file };
    expect(read(environment).config.listen.tls).toBeUndefined();
    expect(read({ ...environment, ...files }).config.listen.tls).toEqual({ certificateFile: file, keyFile: file });
  });

  test.each([
    ['PORTCULLIS_TLS_CERTIFICATE_FILE', 'PORTCULLIS_TLS_KEY_FILE'],
    ['PORTCULLIS_TLS_KEY_FILE', 'PORTCULLIS_TLS_CERTIFICATE_FILE'],
  ])('%s alone, or with a file that cannot be read, is refused', (one, other) => {
    expect(problemsOf(() => read({ ...environment, [one]: file }))).toEqual([
      `${other} is missing: the files of a certificate and of its key must be set together`,
    ]);
    const absent = join(folder.path, 'absent');
    expect(problemsOf(() => read({ ...environment, [one]: file, [other]: absent }))).toEqual([
      `${other} is ${JSON.stringify(absent)} but must be the path of a readable file`,
    ]);
  });
});

test('a gateway with the key of another certificate does not start, and serves nothing', async () => {
  using mount = mountPair({ ...newPair(), key: newPair().key });
  const child = startFile({
    file: 'dataplane/gateway/main.ts',
    environment: {
      PORTCULLIS_API_URL: 'http://127.0.0.1:9',
      PORTCULLIS_API_TOKEN_FILE: file,
      PORTCULLIS_REPLICA: 'gateway-1',
      PORTCULLIS_CLIENT_AUTH: 'open',
      PORTCULLIS_RUNTIME_TOKEN_FILE: file,
      PORTCULLIS_GUARD_TARGET_FILE: file,
      PORTCULLIS_SECRETS_DIR: folder.path,
      PORTCULLIS_TLS_CERTIFICATE_FILE: mount.certificateFile,
      PORTCULLIS_TLS_KEY_FILE: mount.keyFile,
    },
  });
  expect(await child.exit()).toBe(1);
  expect(child.log()).toContain(
    `gateway: cannot start: key file ${mount.keyFile}: is not the key of the certificate in ${mount.certificateFile}`,
  );
  expect(child.output()).not.toContain('listening');
});

test('a gateway serves guarded answers over TLS and loads a new certificate without a restart', async () => {
  const [first, second] = [newPair(), newPair()];
  using mount = mountPair(first);
  await using platform = await startGuardedGateway({
    environment: {
      PORTCULLIS_TLS_CERTIFICATE_FILE: mount.certificateFile,
      PORTCULLIS_TLS_KEY_FILE: mount.keyFile,
    },
  });
  const { url, key, gateway } = platform;
  const chat = () =>
    askTls(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: alias, messages: [{ role: 'user', content: 'hello' }] }),
    });
  const before = await chat();
  expect([before.status, before.serial]).toEqual([200, serialOf(first)]);
  expect(before.body).toContain('a healthy answer');
  mount.swap(second);
  await until('the new certificate is served', async () => (await chat()).serial === serialOf(second));
  // Probes and metrics have a separate address, without TLS.
  const admin = String(gateway.ready['admin']);
  expect(admin).toMatch(/^http:/);
  expect((await fetch(`${admin}/livez`)).status).toBe(200);
  const metrics = async (): Promise<string> => (await fetch(`${admin}/metrics`)).text();
  expect(await metrics()).toMatch(/portcullis_tls_certificate_not_after_seconds\{[^}]*\} 1[0-9]{9}\n/);
  expect(await metrics()).toMatch(/portcullis_tls_certificate_refused\{[^}]*\} 0\n/);
  mount.swap({ ...newPair(), key: 'half' });
  await until('the broken pair is reported', async () =>
    /portcullis_tls_certificate_refused\{[^}]*\} 1\n/.test(await metrics()),
  );
  expect(await chat()).toMatchObject({ status: 200, serial: serialOf(second) });
  await until('the refusal is in the log', () => gateway.log().includes('"event":"tls_certificate_refused"'));
  expect(gateway.log()).not.toContain('PRIVATE KEY');
});

test('an API of a service serves TLS, logs the certificate and reports when it expires', async () => {
  const pair = newPair();
  using mount = mountPair(pair);
  const lines: Readonly<Record<string, unknown>>[] = [];
  const destination = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(String(line)));
      done();
    },
  });
  const registry = createMetrics({ service: 'notes' });
  const metrics = createRequestMetrics<never, never>(registry, {
    service: 'notes',
    operations: [],
    codes: [],
    mostIssuers: 1,
  });
  await using served = await serveApi({
    listen: { host: '127.0.0.1', port: 0, tls: mount },
    table: noteTable,
    service: { notes: new Map(), keys: new Map(), clock: systemClock, beforeStore: async () => undefined },
    authorizer: { authorize: async () => failure('no_tenant') },
    errorOf: () => undefined,
    logger: createLogger({ service: 'notes', level: 'info', destination }),
    metrics,
  });
  expect(await askTls(`${served.url}/notes`)).toMatchObject({ status: 401, serial: serialOf(pair) });
  expect(lines).toContainEqual(
    expect.objectContaining({ event: 'tls_certificate_served', serial: serialOf(pair), level: 'info' }),
  );
  expect(await registry.exposition()).toMatch(/portcullis_tls_certificate_not_after_seconds\{[^}]*\} 1[0-9]{9}\n/);
});

test('the console serves its pages over TLS with an origin of https', async () => {
  using mount = mountPair(newPair());
  const nowhere = 'http://127.0.0.1:9';
  const { config } = readConsole({
    PORTCULLIS_COOKIE_KEY_FILE: file,
    PORTCULLIS_OIDC_ISSUER_URL: nowhere,
    PORTCULLIS_MANAGEMENT_URL: nowhere,
    PORTCULLIS_IDENTITY: 'production',
    PORTCULLIS_LOG_LEVEL: 'error',
    PORTCULLIS_TLS_CERTIFICATE_FILE: mount.certificateFile,
    PORTCULLIS_TLS_KEY_FILE: mount.keyFile,
  });
  await using service = await createConsoleService(config, Buffer.alloc(32, 7));
  expect(service.url).toMatch(/^https:/);
  expect(service.adminUrl).toMatch(/^http:/);
  expect(await askTls(`${service.url}/assets/1/none.js`)).toMatchObject({
    status: 404,
    body: 'There is no such file.\n',
  });
});
