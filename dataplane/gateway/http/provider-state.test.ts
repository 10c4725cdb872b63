import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { completionBody } from '../../../e2e/support/scripted-upstream.ts';
import { routeSpec, storedRoute } from '../testing/route-builder.ts';
import { clientKey, ready, startGateway, type TestGateway } from '../testing/start-gateway.ts';

const folder = temporaryFolder();
let gateway: TestGateway;
let server: Server;
let base: string;
/** The key that the provider accepts. */
let accepted = 'right';

const answers: RequestListener = (incoming, outgoing) => {
  const { pathname } = new URL(incoming.url ?? '', 'http://provider');
  const json = (status: number, body: unknown): void => {
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  incoming.resume().on('end', () => {
    if (pathname.startsWith('/keyed') && incoming.headers.authorization !== `Bearer ${accepted}`) return json(401, {});
    if (pathname.endsWith('/models')) return json(200, { data: [] });
    if (pathname.startsWith('/model')) return json(404, { error: { code: 'model_not_found', message: 'secret text' } });
    if (pathname.startsWith('/path')) return json(404, { detail: 'secret text' });
    if (pathname.startsWith('/limit')) return json(429, {});
    if (pathname.startsWith('/html'))
      return outgoing.writeHead(200, { 'content-type': 'text/html' }).end('secret text');
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end(completionBody('fine'));
  });
};

beforeAll(async () => {
  server = createServer(answers).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const adminTokenFile = join(folder.path, 'admin.token');
  writeFileSync(adminTokenFile, 'admin-token\n');
  gateway = await startGateway(folder.path, 'runtime-token', { adminTokenFile });
  await ready(gateway);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
  folder[Symbol.dispose]();
});

function serve(provider: string, endpoint: string, credential?: string): void {
  const upstream = { provider, endpoint, model: 'm', ...(credential === undefined ? {} : { credential }) };
  gateway.routes.put(storedRoute(provider, routeSpec(provider, endpoint, { mode: 'None' }, { upstream })));
}

/** The newest report about a provider. */
function reported(provider: string) {
  return (
    gateway.reports.at(-1)?.providers?.find((state) => state.provider === provider && state.cause !== undefined) ??
    gateway.reports.at(-1)?.providers?.find((state) => state.provider === provider)
  );
}

async function ask(model: string): Promise<void> {
  const answer = await fetch(`${gateway.service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  });
  await answer.arrayBuffer();
}

async function closedPort(): Promise<number> {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  taken.close();
  return port;
}

const secrets = (name: string): string => join(gateway.secretsDirectory, name);

test('a replica reports a provider that it cannot connect to before any request, and a healthy one as reachable', async () => {
  writeFileSync(secrets('empty-key'), '\n');
  serve('good', `${base}/v1`);
  serve('down', `http://127.0.0.1:${await closedPort()}/v1`);
  serve('unknown-host', 'http://no-such-host.invalid/v1');
  serve('no-key', `${base}/v1`, 'absent-key');
  serve('empty-key', `${base}/v1`, 'empty-key');
  const expected = {
    good: undefined,
    down: 'refused',
    'unknown-host': 'name_not_found',
    'no-key': 'credential_missing',
    'empty-key': 'credential_unreadable',
  };
  for (const [provider, cause] of Object.entries(expected)) {
    await until(`${provider} is reported`, () => {
      const found = reported(provider);
      return found !== undefined && found.cause === cause;
    });
  }
});

test('a replica reports what requests show: refused credential, unknown path or model, rate limit, another API', async () => {
  writeFileSync(secrets('wrong-key'), 'wrong');
  const expected = {
    keyed: 'credential_refused',
    path: 'not_found',
    model: 'model_not_found',
    limit: 'rate_limited',
    html: 'invalid_answer',
  };
  for (const provider of Object.keys(expected)) {
    serve(provider, `${base}/${provider}/v1`, provider === 'keyed' ? 'wrong-key' : undefined);
    await until(`${provider} is connected to`, () => reported(provider) !== undefined);
  }
  for (const [provider, cause] of Object.entries(expected)) {
    await ask(provider);
    const { model } = await until(`${provider} is reported`, () => {
      const found = reported(provider);
      return found?.cause === cause ? found : undefined;
    });
    expect(model).toBe(provider === 'model' ? 'm' : undefined);
  }
  expect(gateway.log() + JSON.stringify(gateway.reports)).not.toContain('secret text');
  const metrics = await (await fetch(`${gateway.service.adminUrl}/metrics`)).text();
  for (const cause of new Set(Object.values(expected))) {
    expect(metrics).toMatch(new RegExp(`provider_failures_total\\{cause="${cause}"[^}]*\\} [1-9]`));
  }
});

test('a provider recovers without a request when it listens again, or when its credential is written or replaced', async () => {
  const port = await closedPort();
  serve('returns', `http://127.0.0.1:${port}/v1`);
  serve('key-comes', `${base}/v1`, 'late-key');
  writeFileSync(secrets('stale-key'), 'right');
  serve('key-changes', `${base}/keyed/v1`, 'stale-key');
  for (const [provider, cause] of [
    ['returns', 'refused'],
    ['key-comes', 'credential_missing'],
  ] as const) {
    await until(`${provider} fails`, () => reported(provider)?.cause === cause);
  }
  accepted = 'new';
  await until('the key is refused', async () => {
    await ask('key-changes');
    return reported('key-changes')?.cause === 'credential_refused';
  });
  using back = {
    server: createServer(answers).listen(port, '127.0.0.1'),
    [Symbol.dispose]() {
      this.server.closeAllConnections();
      this.server.close();
    },
  };
  await once(back.server, 'listening');
  writeFileSync(secrets('late-key'), 'any');
  writeFileSync(secrets('stale-key'), 'new');
  for (const provider of ['returns', 'key-comes', 'key-changes']) {
    await until(`${provider} is reachable again`, () => {
      const found = reported(provider);
      return found !== undefined && found.cause === undefined;
    });
  }
  // A mounted Secret is a link into a folder that is replaced as a whole.
  rmSync(secrets('stale-key'));
  await until('a removed credential is reported, and no request is sent without it', async () => {
    await ask('key-changes');
    return reported('key-changes')?.cause === 'credential_missing';
  });
});

test('only callers with the admin token can let a replica test the provider of an alias in steps', async () => {
  accepted = 'right';
  writeFileSync(secrets('test-key'), 'wrong');
  serve('tested', `${base}/keyed/v1`, 'test-key');
  await until('it is served', () => reported('tested') !== undefined);
  const ask = (alias: string, token: string) =>
    fetch(`${gateway.service.adminUrl}/provider-test?alias=${alias}`, {
      headers: { authorization: `Bearer ${token}` },
    });
  const states = async () => (await (await ask('tested', 'admin-token')).json()) as unknown;
  expect(await states()).toMatchObject({
    provider: 'tested',
    cause: 'credential_refused',
    steps: [
      { step: 'credential', state: 'ok' },
      { step: 'dns', state: 'ok' },
      { step: 'tcp', state: 'ok' },
      { step: 'tls', state: 'skipped' },
      { step: 'http', state: 'failed' },
      { step: 'model', state: 'skipped' },
    ],
  });
  const words = JSON.stringify(await states());
  expect(words).toContain('it refuses the credential (status 401 or 403): replace the key in the file or Secret.');
  expect(words).not.toMatch(/127\.0\.0\.1|test-key/);
  writeFileSync(secrets('test-key'), 'right');
  await until('the new key is accepted, and the list lacks the model', async () =>
    JSON.stringify(await states()).includes('wrong_model'),
  );
  expect((await ask('nothing', 'admin-token')).status).toBe(404);
  expect((await ask('tested', 'other-token')).status).toBe(401);
});

test('a credential that cannot be read is reported as unreadable', async () => {
  // A folder instead of a file, which even root cannot read.
  mkdirSync(secrets('closed-key'));
  serve('closed-key', `${base}/v1`, 'closed-key');
  await until('it is reported', () => reported('closed-key')?.cause === 'credential_unreadable');
});
