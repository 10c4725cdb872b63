import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { applyDesired } from '#kube/apply/apply';
import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import { samplePolicy, sampleReport } from '#kube/testing/sample-resources';
import type { GatewayReport } from '#resources/gateway-report';
import { apiVersion, kinds } from '#resources/kinds';
import { makeDataDirectory, openFolder } from './testing/open-folder.ts';

const kind = kinds.gatewayReport;

async function collect(client: KubeClient, query: Parameters<KubeClient['watch']>[1]): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const event of client.watch<GatewayReport>(kind, { timeoutSeconds: 1, ...query })) {
    const { object } = event;
    seen.push(event.type === 'BOOKMARK' ? 'BOOKMARK' : `${event.type} ${(object as GatewayReport).metadata.name}`);
  }
  return seen;
}

test('a watch ends with a bookmark at the newest version of all kinds', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  const { resourceVersion } = await listAll(folder.client, kind);
  const policy = await folder.client.create(kinds.guardrailPolicy, samplePolicy('other-kind'));
  const versions: string[] = [];
  for await (const event of folder.client.watch(kind, { resourceVersion, timeoutSeconds: 1 })) {
    expect(event.type).toBe('BOOKMARK');
    versions.push(event.object.metadata.resourceVersion);
  }
  expect(versions).toEqual([policy.metadata.resourceVersion]);
});

test('a watch with a selector reports objects that begin or cease to match it', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  const { resourceVersion } = await listAll(folder.client, kind);
  const one = await folder.client.create<GatewayReport>(kind, sampleReport('one', { labels: { pick: 'yes' } }));
  await folder.client.create(kind, sampleReport('two'));
  const out = await applyDesired(folder.client, kind, one, { labels: { pick: 'no' } });
  const back = await applyDesired(folder.client, kind, out, { labels: { pick: 'yes' } });
  await applyDesired(folder.client, kind, back, { labels: { more: 'x' } });
  await folder.client.delete(kind, 'one', { uid: one.metadata.uid });
  expect(await collect(folder.client, { resourceVersion, labelSelector: 'pick=yes' })).toEqual([
    'ADDED one',
    'DELETED one',
    'ADDED one',
    'MODIFIED one',
    'DELETED one',
    'BOOKMARK',
  ]);
});

test('a watch without a version starts with the existing objects', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  await folder.client.create(kind, sampleReport('here'));
  expect(await collect(folder.client, { resourceVersion: '0' })).toEqual(['ADDED here', 'BOOKMARK']);
});

test('a watch from a version before a restart fails with 410 after a write, and from a later version succeeds', async () => {
  await using data = await makeDataDirectory();
  const before = await (async () => {
    await using folder = await openFolder(data);
    await folder.client.create(kind, sampleReport('one'));
    return (await listAll(folder.client, kind)).resourceVersion;
  })();
  await using folder = await openFolder(data);
  await expect(collect(folder.client, { resourceVersion: before })).rejects.toMatchObject({ code: 'gone' });
  const { resourceVersion } = await listAll(folder.client, kind);
  await folder.client.create(kind, sampleReport('two'));
  expect(await collect(folder.client, { resourceVersion })).toEqual(['ADDED two', 'BOOKMARK']);
});

test('a watch from a version above the newest is refused', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  await expect(collect(folder.client, { resourceVersion: '99999999' })).rejects.toMatchObject({
    code: 'too_large_resource_version',
  });
});

test('a watch from a version before the history fails with 410', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  const { resourceVersion } = await listAll(folder.client, kind);
  await writeMegabytes(folder.client, 72);
  await expect(collect(folder.client, { resourceVersion })).rejects.toMatchObject({ code: 'gone' });
});

test('a watcher that stops reading is disconnected and delays no other watcher', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  const path = `/apis/${apiVersion}/namespaces/default/${kinds.runtimeWorkload.plural}?watch=true&timeoutSeconds=600`;
  const socket = connect(Number(new URL(folder.api.url).port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer the-token\r\n\r\n`);
  await once(socket, 'readable');
  socket.pause();
  const closed = once(socket, 'close');
  const objects = 80;
  const { resourceVersion } = await listAll(folder.client, kinds.runtimeWorkload);
  const seen: string[] = [];
  const reading = (async () => {
    const events = folder.client.watch(kinds.runtimeWorkload, { resourceVersion, timeoutSeconds: 600 });
    for await (const { type } of events) if (seen.push(type) === objects) return;
  })();
  await writeMegabytes(folder.client, objects);
  await reading;
  expect(seen).toEqual(Array.from({ length: objects }, () => 'ADDED'));
  socket.resume();
  await closed;
});

test('the shutdown of the server ends its watches with a bookmark', async () => {
  await using data = await makeDataDirectory();
  const folder = await openFolder(data);
  const { resourceVersion } = await listAll(folder.client, kind);
  const seen: string[] = [];
  const watching = (async () => {
    for await (const event of folder.client.watch(kind, { resourceVersion })) seen.push(event.type);
  })();
  await folder.client.create(kind, sampleReport('one'));
  await until('the event', () => seen.length === 1);
  await folder.api[Symbol.asyncDispose]();
  await watching;
  expect(seen).toEqual(['ADDED', 'BOOKMARK']);
  await folder.client[Symbol.asyncDispose]();
});

/** Writes objects of about a megabyte, so that the history drops changes by size. */
async function writeMegabytes(client: KubeClient, count: number): Promise<void> {
  const spec = { digest: '0'.repeat(64), build: 'b', manifest: 'x'.repeat(1_048_576), replicas: 1, state: 'Active' };
  const { kind: name } = kinds.runtimeWorkload;
  for (let at = 0; at < count; at += 1) {
    const object = { apiVersion, kind: name, metadata: { name: `g-${at % 4}-${Math.floor(at / 4)}` }, spec };
    await client.create(kinds.runtimeWorkload, object);
  }
}
