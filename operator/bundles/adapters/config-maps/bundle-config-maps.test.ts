import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { sha256Hex } from '#contracts/canonical';
import { createLogger } from '#kit/log/logger';
import { systemClock } from '#kit/time/clock';
import { createClient } from '#kube/client/client';
import { type FakeApiServer, startFakeApiServer } from '#kube/testing/fake-api-server';
import { bundleMapName, makeBundleMap } from '../../resources/bundle-config-map.ts';
import { type BundlePlace, describeBundleStore } from '../../testing/bundle-store-suite.ts';
import { createBundleConfigMaps } from './bundle-config-maps.ts';

const logger = createLogger({ service: 'test', level: 'error', destination: { write: () => undefined } });

async function openCluster(): Promise<BundlePlace & { readonly server: FakeApiServer; writes(): number }> {
  const server = await startFakeApiServer();
  const client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'team' });
  const create = () => createBundleConfigMaps({ client, clock: systemClock, logger });
  let store = create();
  return {
    server,
    writes: () => server.seen.filter((line) => !line.startsWith('GET')).length,
    get store() {
      return store;
    },
    async read(digest) {
      const data = server.object('configmaps', bundleMapName(digest))?.['data'] as Record<string, string> | undefined;
      return data?.['bundle.json'];
    },
    async remove(digest) {
      server.remove('configmaps', bundleMapName(digest));
    },
    async succeed() {
      await store[Symbol.asyncDispose]();
      store = create();
      return store;
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function open() {
  const place = await openCluster();
  onTestFinished(() => place[Symbol.asyncDispose]());
  return place;
}

describeBundleStore('config maps', openCluster);

const bytes = Buffer.from('{"text":"one"}');
const digest = sha256Hex(bytes);

test('a bundle is an immutable ConfigMap with its complete digest', async () => {
  const place = await open();
  using _held = await place.store.put(digest, bytes);
  const { metadata, ...stored } = place.server.object('configmaps', bundleMapName(digest)) ?? {};
  expect(stored).toMatchObject({ immutable: true, data: { 'bundle.json': bytes.toString() } });
  expect(metadata).toMatchObject({
    name: `portcullis-bundle-${digest.slice(0, 16)}`,
    annotations: { 'portcullis.dev/digest': digest },
  });
  await expect(stringify(makeBundleMap(digest, bytes))).toMatchFileSnapshot('../../testdata/bundle-config-map.yaml');
});

test('a ConfigMap of the same name with another digest is not overwritten', async () => {
  const place = await open();
  const other = { ...makeBundleMap(digest, Buffer.from('{}')) };
  const client = createClient({ url: place.server.url, tokenFile: { first: () => 't' }, namespace: 'team' });
  onTestFinished(() => client[Symbol.asyncDispose]());
  const almost = `${digest.slice(0, 16)}${'0'.repeat(48)}`;
  await client.create(
    { kind: 'ConfigMap', plural: 'configmaps', group: '', version: 'v1', shortNames: [], internal: true },
    {
      ...other,
      metadata: { ...other.metadata, annotations: { 'portcullis.dev/digest': almost } },
    },
  );
  await expect(place.store.put(digest, bytes)).rejects.toMatchObject({
    code: 'Refused',
    message: expect.stringContaining(`${bundleMapName(digest)} exists and has other content`),
  });
  expect(await place.read(digest)).toBe('{}');
  expect(await place.store.has(digest)).toBe(false);
});

test('a stored bundle is not written again, even by the next operator', async () => {
  const place = await open();
  (await place.store.put(digest, bytes))[Symbol.dispose]();
  const before = place.writes();
  (await place.store.put(digest, bytes))[Symbol.dispose]();
  const next = await place.succeed();
  (await next.put(digest, bytes))[Symbol.dispose]();
  expect(place.writes()).toBe(before);
});

test.each(['cut', 'unanswered'] as const)('after a write that was %s, the complete bundle is stored', async (fate) => {
  const place = await open();
  const fates = [fate];
  place.server.fate = ({ method }) => (method === 'POST' ? fates.pop() : undefined) ?? 'served';
  await expect(place.store.put(digest, bytes)).rejects.toMatchObject({ code: 'network' });
  (await place.store.put(digest, bytes))[Symbol.dispose]();
  expect(await place.read(digest)).toBe(bytes.toString());
});
