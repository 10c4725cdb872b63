import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { reset, type Script, silence } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import type { GatewayReport } from '#resources/gateway-report';
import { kinds } from '#resources/kinds';
import { createElectionClient } from '../election/election-client.ts';
import { sampleReport } from '../testing/sample-resources.ts';
import { json, startScriptedServer } from '../testing/scripted-server.ts';
import { builtinKinds } from './builtin-kinds.ts';
import { createClient } from './client.ts';
import { KubeError, type KubeErrorCode } from './kube-error.ts';

const kind = kinds.gatewayReport;
const server = { uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' };
const report = sampleReport('one', server);

async function withClient(
  steps: readonly Script[],
  tokens: () => string = () => 'secret',
  open: typeof createClient = createClient,
  requestTimeoutMs = 60_000,
) {
  const scripted = await startScriptedServer();
  scripted.script({ lists: steps });
  const reports: string[] = [];
  const client = open({
    url: scripted.url,
    tokenFile: { first: tokens },
    namespace: 'team',
    requestTimeoutMs,
    onRequest: ({ method, status }) => void reports.push(`${method} ${status}`),
  });
  return {
    scripted,
    client,
    reports,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await scripted[Symbol.asyncDispose]();
    },
  };
}

function status(code: number, reason: string, details: object = {}): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: 'why', details };
}

const failures: readonly [string, Script, KubeErrorCode][] = [
  ['400', json(400, status(400, 'BadRequest')), 'invalid'],
  ['401', json(401, status(401, 'Unauthorized')), 'unauthenticated'],
  ['403', json(403, status(403, 'Forbidden')), 'forbidden'],
  ['404', json(404, status(404, 'NotFound', { name: 'one' })), 'not_found'],
  ['404 without a Status', json(404, 'page not found'), 'not_found'],
  ['409 AlreadyExists', json(409, status(409, 'AlreadyExists')), 'already_exists'],
  ['409 Conflict', json(409, status(409, 'Conflict')), 'conflict'],
  ['410', json(410, status(410, 'Expired')), 'gone'],
  ['413', json(413, status(413, 'RequestEntityTooLarge')), 'invalid'],
  ['422 with causes', json(422, status(422, 'Invalid', { causes: [{ field: 'spec', message: 'no' }] })), 'invalid'],
  ['422 without causes', json(422, status(422, 'Invalid')), 'precondition_failed'],
  ['429', json(429, status(429, 'TooManyRequests')), 'too_many_requests'],
  ['500', json(500, status(500, 'InternalError')), 'unavailable'],
  ['502 of a proxy', json(502, 'bad gateway'), 'unavailable'],
  ['503', json(503, status(503, 'ServiceUnavailable')), 'unavailable'],
  [
    '504 ResourceVersionTooLarge',
    json(504, status(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge' }] })),
    'too_large_resource_version',
  ],
  ['507', json(507, status(507, 'StorageFull')), 'storage_full'],
  ['500 StorageFull', json(500, status(500, 'InternalError', { causes: [{ reason: 'StorageFull' }] })), 'storage_full'],
  ['a redirect', json(302, {}, { location: 'http://127.0.0.1:1/' }), 'unavailable'],
  ['another media type', (outgoing) => void outgoing.writeHead(200).end('<html>'), 'unavailable'],
  ['another kind', json(200, { ...report, kind: 'GatewayRoute' }), 'unavailable'],
  [
    'an object without a version',
    json(200, sampleReport('one', { ...server, resourceVersion: undefined as never })),
    'unavailable',
  ],
  ['a reset', reset, 'network'],
  ['nothing', silence, 'network'],
  ['half a body', (outgoing) => void outgoing.writeHead(200, { 'content-length': 99 }).write('{"kind"'), 'network'],
];

test.each(failures)('a failed call has the error code of its response: %s', async (_name, step, code) => {
  await using one = await withClient([step], undefined, undefined, code === 'network' ? 300 : 60_000);
  const error = await one.client.create(kind, sampleReport('one')).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(KubeError);
  expect((error as KubeError).code).toBe(code);
});

test('a refused connection fails with the code network', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  taken.close();
  await once(taken, 'close');
  const tokenFile = { first: () => 't' };
  await using client = createClient({ url: `http://127.0.0.1:${port}`, tokenFile, namespace: 'team' });
  await expect(client.get(kind, 'one')).rejects.toMatchObject({ code: 'network' });
});

test('the client reports an object as absent only when the server names it as absent', async () => {
  await using one = await withClient([
    json(404, status(404, 'NotFound', { name: 'one', kind: 'gatewayreports' })),
    json(404, status(404, 'NotFound')),
    json(404, status(404, 'NotFound', { name: 'other' })),
    json(404, 'page not found'),
  ]);
  expect(await one.client.get(kind, 'one')).toBeUndefined();
  for (let at = 0; at < 3; at += 1) {
    await expect(one.client.get(kind, 'one')).rejects.toMatchObject({ code: 'not_found' });
  }
});

test('an error has the causes and the Retry-After of the response', async () => {
  const causes = [{ reason: 'FieldValueInvalid', field: 'spec.gateway', message: 'is required' }];
  await using one = await withClient([
    json(422, status(422, 'Invalid', { causes })),
    json(429, status(429, 'TooManyRequests', { retryAfterSeconds: 3 })),
    json(429, 'busy', { 'retry-after': '7' }),
    json(503, 'busy', { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }),
  ]);
  const next = async () => ((await one.client.list(kind).catch((error: unknown) => error)) as KubeError).details;
  expect(await next()).toEqual({ status: 422, causes: [{ field: 'spec.gateway', message: 'is required' }] });
  expect(await next()).toEqual({ status: 429, retryAfterMs: 3_000 });
  expect(await next()).toEqual({ status: 429, retryAfterMs: 7_000 });
  expect(await next()).toEqual({ status: 503 });
});

test('writes have the method, path, media type, token and body that the Kubernetes API expects', async () => {
  await using one = await withClient(Array(4).fill(json(200, report)));
  const { seen } = one.scripted;
  const operations = [{ op: 'remove', path: '/metadata/labels' }] as const;
  await one.client.create(kind, sampleReport('one'));
  await one.client.patch(kind, 'one', operations);
  await one.client.patchStatus(kind, 'one', operations);
  await one.client.delete(kind, 'one', { uid: 'u', resourceVersion: '1' });
  const path = '/apis/portcullis.dev/v1alpha1/namespaces/team/gatewayreports';
  expect(seen.map(({ method, path: asked }) => `${method} ${asked}`)).toEqual([
    `POST ${path}?fieldValidation=Strict`,
    `PATCH ${path}/one?fieldValidation=Strict`,
    `PATCH ${path}/one/status?fieldValidation=Strict`,
    `DELETE ${path}/one`,
  ]);
  expect(seen.map(({ headers }) => headers['content-type'])).toEqual([
    'application/json',
    'application/json-patch+json',
    'application/json-patch+json',
    'application/json',
  ]);
  for (const { headers } of seen) expect(headers['authorization']).toBe('Bearer secret');
  expect(JSON.parse(seen[1]?.text ?? '')).toEqual(operations);
  expect(JSON.parse(seen[3]?.text ?? '')).toMatchObject({
    kind: 'DeleteOptions',
    preconditions: { uid: 'u', resourceVersion: '1' },
  });
  expect(one.reports).toEqual(['POST 200', 'PATCH 200', 'PATCH 200', 'DELETE 200']);
});

test('the client reads its token for each request', async () => {
  const tokens = ['first', 'second'];
  await using one = await withClient(Array(2).fill(json(200, report)), () => tokens.shift() ?? '');
  await one.client.get(kind, 'one');
  await one.client.get(kind, 'one');
  expect(one.scripted.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
});

test('the client sends nothing when its token cannot be read', async () => {
  await using one = await withClient([json(200, report)], () => {
    throw new TypeError('token file /x: holds no token');
  });
  await expect(one.client.get(kind, 'one')).rejects.toMatchObject({
    code: 'unauthenticated',
    message: 'token file /x: holds no token',
  });
  expect(one.scripted.seen).toEqual([]);
});

/** Maximum number of connections of a client, and how many of them watches may use. */
const pools = [
  { name: 'a client', open: createClient, sockets: 48, watches: 32 },
  { name: 'the client of an election', open: createElectionClient, sockets: 4, watches: 2 },
];

test.each(pools)('$name sends many requests over $sockets connections', async ({ open, sockets: most }) => {
  const sockets = new Set<unknown>();
  const note: Script = (outgoing) => {
    sockets.add(outgoing.socket);
    setTimeout(() => outgoing.writeHead(200).end(JSON.stringify(report)), 2);
  };
  await using one = await withClient(
    Array.from({ length: 400 }, () => note),
    undefined,
    open,
  );
  await Promise.all(Array.from({ length: 400 }, () => one.client.list(kind).catch(() => {})));
  expect(sockets.size).toBe(most);
});

test.each(pools)(
  '$name runs $watches watches in addition to its requests and refuses another watch',
  async ({ open, watches }) => {
    await using one = await withClient([json(200, report)], undefined, open);
    const stop = new AbortController();
    const watch = async (): Promise<void> => {
      for await (const _ of one.client.watch(kind, { resourceVersion: '1', signal: stop.signal }));
    };
    const watching = Array.from({ length: watches }, () => watch().catch(() => {}));
    await until('all of the watches are open', () => one.scripted.watches().length === watches);
    await expect(watch()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await one.client.get(kind, 'one')).toBeDefined();
    stop.abort();
    await Promise.all(watching);
    expect(one.scripted.watches()).toHaveLength(watches);
  },
);

test('a request that times out closes every connection, and the next request uses a new one', async () => {
  const used: (number | undefined)[] = [];
  const noted =
    (step: Script): Script =>
    (outgoing, incoming) => {
      used.push(outgoing.socket?.remotePort);
      return step(outgoing, incoming);
    };
  await using one = await withClient(
    [json(200, report), silence, json(200, report)].map(noted),
    undefined,
    undefined,
    2_000,
  );
  one.scripted.script({ watches: [silence] });
  const watching = (async () => {
    for await (const _ of one.client.watch(kind, { resourceVersion: '1' }));
  })();
  const watch = expect(watching).rejects.toMatchObject({ code: 'network' });
  await until('the watch is open', () => one.scripted.watches().length === 1);
  await one.client.get(kind, 'one');
  await expect(one.client.get(kind, 'one')).rejects.toMatchObject({ code: 'network' });
  await watch;
  await one.client.get(kind, 'one');
  expect(used.slice(0, 2)).not.toContain(used[2]);
});

test('kinds of other groups and of the core group have their own paths and types', async () => {
  const metadata = { name: 'one', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...metadata, generation: 3 } };
  const lists = [json(200, map), json(200, lease), json(200, { ...map, apiVersion: 'portcullis.dev/v1alpha1' })];
  const items = [{ metadata: { ...metadata, managedFields: [] } }];
  const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '2' }, items };
  await using one = await withClient([...lists, json(200, list)]);
  const stored = { ...map, metadata: { ...metadata, generation: 0 } };
  expect(await one.client.get(builtinKinds.configMap, 'one')).toEqual(stored);
  expect((await one.client.get(builtinKinds.lease, 'one'))?.metadata.generation).toBe(3);
  await expect(one.client.get(builtinKinds.configMap, 'one')).rejects.toMatchObject({ code: 'unavailable' });
  const selectors = { labelSelector: 'a=b', fieldSelector: 'metadata.name=one' };
  expect((await one.client.list(builtinKinds.configMap, selectors)).items).toEqual([stored]);
  expect(one.scripted.seen.map(({ path }) => path)).toEqual([
    '/api/v1/namespaces/team/configmaps/one',
    '/apis/coordination.k8s.io/v1/namespaces/team/leases/one',
    '/api/v1/namespaces/team/configmaps/one',
    '/api/v1/namespaces/team/configmaps?labelSelector=a%3Db&fieldSelector=metadata.name%3Done',
  ]);
});

test("the path of the API server's URL is a prefix of every request path", async () => {
  await using scripted = await startScriptedServer();
  scripted.script({ lists: [json(200, report)] });
  const url = `${scripted.url}/clusters/one/`;
  await using client = createClient({ url, tokenFile: { first: () => 't' }, namespace: 'team' });
  expect((await client.get<GatewayReport>(kind, 'one'))?.spec).toEqual(report.spec);
  expect(scripted.seen[0]?.path).toMatch(/^\/clusters\/one\/apis\/portcullis\.dev\//);
});

test('an error of the client does not contain the token', async () => {
  await using one = await withClient([reset]);
  const error = await one.client.get(kind, 'one').catch((caught: unknown) => caught);
  expect(`${String(error)} ${JSON.stringify(error)} ${(error as Error).stack}`).not.toContain('secret');
});
