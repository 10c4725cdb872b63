import { expect, test } from 'vitest';
import { openTokenFile } from '#kit/http/token-file';
import { applyDesired } from '#kube/apply/apply';
import { createClient, type KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import { type FlakyProxy, type Mishap, startFlakyProxy } from '#kube/testing/flaky-proxy';
import { sampleReport } from '#kube/testing/sample-resources';
import { compareVersions } from '#kube/watch/compare-versions';
import { startReflector } from '#kube/watch/reflector';
import type { GatewayReport } from '#resources/gateway-report';
import { kinds } from '#resources/kinds';
import { until } from '../../e2e/support/until.ts';
import { type DataDirectory, makeDataDirectory, openFolder, silent } from './testing/open-folder.ts';

const kind = kinds.gatewayReport;
const restarts = 5;
const writesPerLife = 150;
const mishaps: readonly Mishap[] = [
  'busy',
  'error',
  'gone',
  'reset',
  'cut',
  'cut',
  'end',
  'end',
  'shred',
  'none',
  'none',
];

test('a reflector ends with the state of the server after any faults of network and server', async () => {
  await using data = await makeDataDirectory();
  await using proxy = await startFlakyProxy('http://127.0.0.1:1');
  await using copy = startCopy(data, proxy);
  const state = new Map<string, boolean>();
  for (let life = 0; life < restarts; life += 1) {
    await using folder = await openFolder(data);
    proxy.target = folder.api.url;
    const before = total(proxy);
    proxy.choose = () => mishaps[total(proxy) % mishaps.length] ?? 'none';
    for (let write = 0; write < writesPerLife; write += 1) await writeSomething(folder.client, state);
    await until('every mishap', () => total(proxy) - before >= mishaps.length);
  }
  await using folder = await openFolder(data);
  proxy.target = folder.api.url;
  proxy.choose = () => 'none';
  const list = await listAll<GatewayReport>(folder.client, kind);
  await until('the copy has caught up', () => compareVersions(copy.throughVersion(), list.resourceVersion) >= 0);
  const held = copy.store.list().toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  expect(held).toEqual(list.items);
  expect(copy.faults).toEqual([]);
  for (const one of new Set(mishaps)) expect(proxy.counts.get(one)).toBeGreaterThanOrEqual(restarts);
});

test('a reflector replaces a frozen connection', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  await using proxy = await startFlakyProxy(folder.api.url);
  proxy.choose = (incoming) => (incoming.url?.includes('watch=true') ? 'freeze' : 'none');
  await using copy = startCopy(data, proxy);
  const state = new Map<string, boolean>();
  await until('a frozen watch', () => (proxy.counts.get('freeze') ?? 0) > 0);
  for (let write = 0; write < 30; write += 1) await writeSomething(folder.client, state);
  proxy.choose = () => 'none';
  const list = await listAll<GatewayReport>(folder.client, kind);
  await until('the copy has caught up', () => compareVersions(copy.throughVersion(), list.resourceVersion) >= 0);
  expect(copy.store.size).toBe(list.items.length);
  expect(copy.faults).toEqual([]);
});

function total(proxy: FlakyProxy): number {
  return [...proxy.counts.values()].reduce((sum, count) => sum + count, 0);
}

/** A reflector through the proxy that records every violation of its obligations. */
function startCopy(data: DataDirectory, proxy: FlakyProxy) {
  const client = createClient({ url: proxy.url, tokenFile: openTokenFile(data.token), namespace: 'default' });
  const delivered = new Map<string, string>();
  const faults: string[] = [];
  const reflector = startReflector<GatewayReport>({
    client: { list: client.list, watch: (one, watch) => client.watch(one, { ...watch, timeoutSeconds: 1 }) },
    kind,
    logger: silent,
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
