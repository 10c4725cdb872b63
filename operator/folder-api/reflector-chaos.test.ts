import { expect, test } from 'vitest';
import { openTokenFile } from '#kit/http/token-file';
import { type Fault, type FaultyProxy, startFaultyProxy } from '#kit/testing/faulty-proxy';
import { until } from '#kit/testing/until';
import { applyDesired } from '#kube/apply/apply';
import { createClient, type KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import { sampleReport } from '#kube/testing/sample-resources';
import { compareVersions } from '#kube/watch/compare-versions';
import { startReflector } from '#kube/watch/reflector';
import type { GatewayReport } from '#resources/gateway-report';
import { kinds } from '#resources/kinds';
import { type FolderApiData, makeDataDirectory, openFolder, silentLogger } from './testing/open-folder.ts';

const kind = kinds.gatewayReport;
const restarts = 5;
const writesPerLife = 150;
/** An error response whose body is not a Status object. */
function bare(status: number, headers: Readonly<Record<string, string>> = {}): Fault {
  return { kind: 'answer', answer: { status, headers, body: status === 500 ? 'oops' : '' } };
}
const pass: Fault = { kind: 'pass' };
const reset: Fault = { kind: 'cut', ending: 'reset' };
const end: Fault = { kind: 'cut', ending: 'end' };
const faults: readonly Fault[] = [
  bare(429, { 'retry-after': '0' }),
  bare(500),
  bare(410),
  { kind: 'reset' },
  reset,
  reset,
  end,
  end,
  { kind: 'shred' },
  pass,
  pass,
];

test('a reflector ends with the state of the server after any faults of network and server', async () => {
  await using data = await makeDataDirectory();
  await using proxy = await startFaultyProxy('http://127.0.0.1:1');
  await using copy = startCopy(data, proxy);
  const state = new Map<string, boolean>();
  const chosen: Fault[] = [];
  for (let life = 0; life < restarts; life += 1) {
    await using folder = await openFolder(data);
    proxy.target = folder.api.url;
    const before = chosen.length;
    proxy.choose = () => {
      const fault = faults[chosen.length % faults.length] ?? pass;
      chosen.push(fault);
      return fault;
    };
    for (let write = 0; write < writesPerLife; write += 1) await writeSomething(folder.client, state);
    await until('every fault', () => chosen.length - before >= faults.length);
  }
  await using folder = await openFolder(data);
  proxy.target = folder.api.url;
  proxy.choose = () => pass;
  const list = await listAll<GatewayReport>(folder.client, kind);
  await until(
    'the cache equals the state of the server',
    () => compareVersions(copy.throughVersion(), list.resourceVersion) >= 0,
  );
  const held = copy.store.list().toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  expect(held).toEqual(list.items);
  expect(copy.faults).toEqual([]);
  for (const one of new Set(faults)) {
    expect(chosen.filter((fault) => fault === one).length).toBeGreaterThanOrEqual(restarts);
  }
});

test('a reflector replaces a frozen connection', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  await using proxy = await startFaultyProxy(folder.api.url);
  proxy.choose = ({ path }) => (path.includes('watch=true') ? { kind: 'cut', ending: 'silence' } : pass);
  await using copy = startCopy(data, proxy);
  const state = new Map<string, boolean>();
  await until('a frozen watch', () => proxy.faults() > 0);
  for (let write = 0; write < 30; write += 1) await writeSomething(folder.client, state);
  proxy.choose = () => pass;
  const list = await listAll<GatewayReport>(folder.client, kind);
  await until(
    'the cache equals the state of the server',
    () => compareVersions(copy.throughVersion(), list.resourceVersion) >= 0,
  );
  expect(copy.store.size).toBe(list.items.length);
  expect(copy.faults).toEqual([]);
});

/** A reflector that reads through the proxy and records every violation of its obligations. */
function startCopy(data: FolderApiData, proxy: FaultyProxy) {
  const client = createClient({ url: proxy.url, tokenFile: openTokenFile(data.token), namespace: 'default' });
  const delivered = new Map<string, string>();
  const faults: string[] = [];
  const reflector = startReflector<GatewayReport>({
    client: { list: client.list, watch: (one, watch) => client.watch(one, { ...watch, timeoutSeconds: 1 }) },
    kind,
    logger: silentLogger,
    backoff: { next: () => 10 + Math.random() * 20, reset: () => {} },
    onChange(name, current, previous) {
      if (previous?.metadata.resourceVersion !== delivered.get(name)) faults.push(`${name}: unknown previous`);
      if (current === undefined) return void delivered.delete(name);
      const { resourceVersion } = current.metadata;
      if (compareVersions(resourceVersion, previous?.metadata.resourceVersion ?? '0') <= 0)
        faults.push(`${name}: back`);
      delivered.set(name, resourceVersion);
    },
  });
  return {
    store: reflector.store,
    throughVersion: reflector.throughVersion,
    faults,
    async [Symbol.asyncDispose]() {
      await reflector[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    },
  };
}

async function writeSomething(client: KubeClient, state: Map<string, boolean>): Promise<void> {
  const name = `report-${Math.floor(Math.random() * 40)}`;
  if (state.get(name) !== true) {
    await client.create(kind, sampleReport(name));
    state.set(name, true);
    return;
  }
  const current = await client.get<GatewayReport>(kind, name);
  if (current === undefined) throw new TypeError(`${name} is lost`);
  if (Math.random() < 0.3) {
    await client.delete(kind, name, { uid: current.metadata.uid });
    state.set(name, false);
    return;
  }
  const appliedThrough = String(Math.floor(Math.random() * 1e9));
  await applyDesired(client, kind, current, { spec: { ...current.spec, appliedThrough } });
}
