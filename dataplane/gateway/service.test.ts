import { writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTokenFile } from '#kit/http/token-file';
import { type FaultyProxy, startFaultyProxy } from '#kit/testing/faulty-proxy';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createClient, type KubeClient } from '#kube/client/client';
import { compareVersions } from '#kube/watch/compare-versions';
import { type GatewayReport, gatewayReportSchema } from '#resources/gateway-report';
import type { GatewayRoute, GatewayRouteSpec } from '#resources/gateway-route';
import { apiVersion, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { type ScriptedUpstream, startScriptedUpstream } from '../../e2e/support/scripted-upstream.ts';
import { type RunningProcess, startProcess } from '../../e2e/support/start-process.ts';
import { routeGuard, routeSpec } from './testing/route-builder.ts';
import { clientKey } from './testing/start-gateway.ts';
import { policySection, type RunningPolicy, startPolicy, termRule } from './testing/start-policy.ts';

const stack = new AsyncDisposableStack();
const generation = (n: number): string => `0190a5d4-7f3a-7cc2-9b1e-8d3f5a6b7c0${n}`;
let folder: string;
let api: RunningProcess;
let proxy: FaultyProxy;
let client: KubeClient;
let upstream: ScriptedUpstream;
let policy: RunningPolicy;
let stricter: RunningPolicy;

beforeAll(async () => {
  folder = stack.use(temporaryFolder()).path;
  await mkdir(join(folder, 'resources'));
  for (const [name, text] of [
    ['api.token', 'api-token'],
    ['client.keys', `${clientKey} tests`],
    ['runtime.token', 'runtime-token'],
  ] as const) {
    writeFileSync(join(folder, name), `${text}\n`);
  }
  api = stack.use(await serveResources());
  proxy = stack.use(await startFaultyProxy(api.url));
  client = stack.use(
    createClient({ url: proxy.url, tokenFile: openTokenFile(join(folder, 'api.token')), namespace: 'default' }),
  );
  upstream = stack.use(await startScriptedUpstream({ kind: 'answer', content: 'fine' }));
  const nothing = policySection();
  policy = stack.use(await startPolicy(folder, 'runtime-token', { request: nothing, response: nothing }));
  const request = policySection([termRule('deny', ['badword'])]);
  stricter = stack.use(await startPolicy(folder, 'runtime-token', { request, response: nothing }));
});
afterAll(() => stack.disposeAsync());

function serveResources(): Promise<RunningProcess> {
  return startProcess({
    file: 'operator/folder-api/testing/serve-folder.ts',
    args: [join(folder, 'resources'), join(folder, 'api.token')],
    environment: {},
  });
}

function startReplica(replica: string, environment: Record<string, string> = {}): Promise<RunningProcess> {
  return startProcess({
    file: 'dataplane/gateway/main.ts',
    environment: {
      PORTCULLIS_API_URL: proxy.url,
      PORTCULLIS_API_TOKEN_FILE: join(folder, 'api.token'),
      PORTCULLIS_REPLICA: replica,
      PORTCULLIS_CLIENT_KEYS_FILE: join(folder, 'client.keys'),
      PORTCULLIS_RUNTIME_TOKEN_FILE: join(folder, 'runtime.token'),
      PORTCULLIS_SECRETS_DIR: folder,
      ...environment,
    },
  });
}

async function putRoute(name: string, spec: GatewayRouteSpec): Promise<Stored<GatewayRoute>> {
  const current = await client.get<GatewayRoute>(kinds.gatewayRoute, name);
  if (current !== undefined) {
    return client.patch<GatewayRoute>(kinds.gatewayRoute, name, [{ op: 'replace', path: '/spec', value: spec }]);
  }
  return client.create<GatewayRoute>(kinds.gatewayRoute, {
    apiVersion,
    kind: 'GatewayRoute',
    metadata: { name },
    spec,
  });
}

async function removeRoute(name: string): Promise<void> {
  const current = await client.get<GatewayRoute>(kinds.gatewayRoute, name);
  if (current !== undefined) await client.delete(kinds.gatewayRoute, name, { uid: current.metadata.uid });
}

const spec = (alias: string, running: RunningPolicy, n: number, rest: Partial<GatewayRouteSpec> = {}) =>
  routeSpec(alias, `${upstream.url}/v1`, routeGuard(running.pin), {
    generationId: generation(n),
    workload: `g-${n}`,
    ...rest,
  });

function chat(gateway: RunningProcess, content = 'hi', stream = false): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'model', messages: [{ role: 'user', content }], stream }),
  });
}

const readiness = async (gateway: RunningProcess): Promise<number> =>
  (await fetch(`${String(gateway.ready['admin'])}/readyz`)).status;

async function reportOf(replica: string): Promise<GatewayReport['spec']> {
  const report = await client.get<GatewayReport>(kinds.gatewayReport, replica);
  return gatewayReportSchema.parse(report).spec;
}

/** Waits for a report that covers this version of a route and lists the route neither as pending nor as rejected. */
async function applied(replica: string, route: Stored<GatewayRoute>): Promise<GatewayReport['spec']> {
  return until('the replica applied the route', async () => {
    const report = await reportOf(replica);
    const through = compareVersions(report.appliedThrough, route.metadata.resourceVersion) >= 0;
    const listed = [...report.pending, ...report.rejected].some((entry) => entry.route === route.metadata.name);
    return through && !listed && report;
  });
}

describe('a gateway process', () => {
  test('a gateway loads routes, reports them, and keeps serving while the API server is unavailable', async () => {
    const first = await putRoute('r', spec('model', policy, 1));
    await using gateway = await startReplica('one');
    await until('the gateway is ready', async () => (await readiness(gateway)) === 200);
    const report = await applied('one', first);
    expect(report).toMatchObject({
      gateway: 'default',
      ready: true,
      formats: [1],
      inUse: [{ workload: 'g-1', generationId: generation(1) }],
    });
    expect((await chat(gateway)).status).toBe(200);

    const second = await putRoute('r', spec('model', stricter, 2));
    expect((await applied('one', second)).inUse).toEqual([{ workload: 'g-2', generationId: generation(2) }]);
    expect((await chat(gateway, 'a badword')).status).toBe(403);

    await api.end('SIGKILL');
    expect((await chat(gateway, 'a badword')).status).toBe(403);
    expect((await chat(gateway)).status).toBe(200);
    expect(await readiness(gateway)).toBe(200);

    await using late = await startReplica('late');
    expect(await readiness(late)).toBe(503);
    expect((await chat(late)).status).toBe(503);
    api = stack.use(await serveResources());
    proxy.target = api.url;
    await until('the late one is ready', async () => (await readiness(late)) === 200);
    expect((await chat(late)).status).toBe(200);
    await removeRoute('r');
    await until('the alias is gone', async () => (await chat(gateway)).status === 404);
    expect(await gateway.end()).toBe(0);
    expect(await late.end()).toBe(0);
  });

  test('a gateway writes no report while nothing changes, and a new bootId after each start', async () => {
    const route = await putRoute('r', spec('model', policy, 1));
    const gateway = await startReplica('two');
    const before = await applied('two', route);
    await until('the gateway is ready', async () => (await readiness(gateway)) === 200);
    await until('it has connected to the provider', async () => (await reportOf('two')).providers !== undefined);
    const version = async (): Promise<string | undefined> =>
      (await client.get<GatewayReport>(kinds.gatewayReport, 'two'))?.metadata.resourceVersion;
    const written = await version();
    for (let count = 0; count < 20; count += 1) await (await chat(gateway)).text();
    const elsewhere = await putRoute('other', spec('elsewhere', policy, 1, { gateway: 'another' }));
    expect(elsewhere.metadata.name).toBe('other');
    await (await chat(gateway)).text();
    expect(await version()).toBe(written);
    expect(await gateway.end()).toBe(0);
    await using again = await startReplica('two');
    await until('the gateway is ready again', async () => (await readiness(again)) === 200);
    const after = await until('it reports so under a new bootId', async () => {
      const report = await reportOf('two');
      return report.ready && report.bootId !== before.bootId && report;
    });
    expect(after.inUse).toEqual([{ workload: 'g-1', generationId: generation(1) }]);
    await removeRoute('r');
    await removeRoute('other');
  });

  test('a route is pending while its runtime is unavailable, rejected when the runtime contradicts it, and served afterwards', async () => {
    const away = { ...policy.pin, addresses: ['http://127.0.0.1:1'] };
    await using gateway = await startReplica('three');
    await until('the gateway is ready', async () => (await readiness(gateway)) === 200);
    const guard = routeGuard(away);
    await putRoute('r', spec('model', policy, 1, { guardrail: guard }));
    await until('the route is pending', async () => (await reportOf('three')).pending[0]?.route === 'r');
    expect((await chat(gateway)).status).toBe(503);
    await putRoute(
      'r',
      spec('model', policy, 1, { guardrail: routeGuard({ ...stricter.pin, addresses: policy.pin.addresses }) }),
    );
    await until(
      'the route is rejected',
      async () => (await reportOf('three')).rejected[0]?.reason === 'probe_policy_unavailable',
    );
    expect((await chat(gateway)).status).toBe(503);
    await applied('three', await putRoute('r', spec('model', policy, 1)));
    expect((await chat(gateway)).status).toBe(200);
    const twin = await putRoute('s', spec('model', policy, 2));
    await until('both are rejected', async () => (await reportOf('three')).rejected.length === 2);
    expect((await chat(gateway)).status).toBe(503);
    await client.delete(kinds.gatewayRoute, 's', { uid: twin.metadata.uid });
    await until('the alias is back', async () => (await chat(gateway)).status === 200);
    await removeRoute('r');
  });

  test('a workload stays in use until its last stream has ended, even while the gateway shuts down', async () => {
    const first = await putRoute('r', spec('model', policy, 1));
    const gateway = await startReplica('four');
    await applied('four', first);
    let isOver = false;
    upstream.play({ kind: 'live', piece: () => 'word '.repeat(20), everyMs: 25, ends: () => isOver });
    const answer = await chat(gateway, 'hi', true);
    const second = await putRoute('r', spec('model', stricter, 2));
    expect((await applied('four', second)).inUse.map(({ workload }) => workload)).toEqual(['g-1', 'g-2']);
    const ended = gateway.end();
    await until('it is draining', async () => (await readiness(gateway)) === 503);
    isOver = true;
    expect((await answer.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await ended).toBe(0);
    await removeRoute('r');
  });

  test('the report releases a workload when its last stream has ended', async () => {
    const first = await putRoute('r', spec('model', policy, 1));
    await using gateway = await startReplica('five');
    await applied('five', first);
    upstream.play({ kind: 'answer', content: 'word '.repeat(200), frameLength: 40, frameDelayMs: 20 });
    const answer = await chat(gateway, 'hi', true);
    await applied('five', await putRoute('r', spec('model', stricter, 2)));
    await answer.text();
    await until('the workload is released', async () => (await reportOf('five')).inUse.length === 1);
    expect((await reportOf('five')).inUse).toEqual([{ workload: 'g-2', generationId: generation(2) }]);
    await removeRoute('r');
  });

  test('a gateway without client keys does not start and names the missing setting', async () => {
    const start = startReplica('six', { PORTCULLIS_CLIENT_KEYS_FILE: join(folder, 'nothing') });
    await expect(start).rejects.toThrow('PORTCULLIS_CLIENT_KEYS_FILE');
  });
});
