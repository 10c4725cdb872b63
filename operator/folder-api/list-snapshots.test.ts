import { expect, test } from 'vitest';
import { samplePolicy } from '#kube/testing/sample-resources';
import { kinds } from '#resources/kinds';
import { decideCreate } from './decide-create.ts';
import { createListSnapshots } from './list-snapshots.ts';
import { openObjectFiles } from './object-files.ts';
import { openResourceStore, type ResourceStore } from './resource-store.ts';
import { makeDataDirectory } from './testing/open-folder.ts';

const kind = kinds.guardrailPolicy;
const all = { kind, token: undefined, matches: undefined };

async function add(store: ResourceStore, name: string, padding = ''): Promise<void> {
  const body = samplePolicy(name, { annotations: { padding } });
  const input = { kind, namespace: 'default', body, uid: name, now: new Date(0) };
  await store.change(kind, name, (current) => decideCreate(input, current));
}

test('a continue token of a list expires after five minutes or sixteen newer lists', async () => {
  await using data = await makeDataDirectory();
  const store = openResourceStore(openObjectFiles(data.resources), () => {});
  let now = 0;
  const snapshots = createListSnapshots(store, () => now);
  for (const name of ['a', 'b']) await add(store, name);
  const expired = expect.objectContaining({ reason: 'Expired' });
  const first = snapshots.page({ ...all, limit: 1 });
  now = 300_000;
  expect(snapshots.page({ ...all, limit: 1, token: first.continue }).objects).toHaveLength(1);
  now = 300_001;
  expect(() => snapshots.page({ ...all, limit: 1, token: first.continue })).toThrow(expired);
  const second = snapshots.page({ ...all, limit: 1 });
  for (let at = 0; at < 16; at += 1) {
    await add(store, `more-${at}`);
    snapshots.page({ ...all, limit: 1 });
  }
  expect(() => snapshots.page({ ...all, limit: 1, token: second.continue })).toThrow(expired);
});

test('a large page of a list is split, and all pages together are the list', async () => {
  await using data = await makeDataDirectory();
  const store = openResourceStore(openObjectFiles(data.resources), () => {});
  const snapshots = createListSnapshots(store, () => 0);
  for (let at = 0; at < 40; at += 1) await add(store, `n-${at}`, 'x'.repeat(250_000));
  let page = snapshots.page({ ...all, limit: 500 });
  expect(page.objects.length).toBeLessThan(40);
  const seen = [...page.objects];
  while (page.continue !== undefined) {
    page = snapshots.page({ ...all, limit: 500, token: page.continue });
    seen.push(...page.objects);
  }
  expect(seen).toEqual(store.list(kind));
});

test('a page of a list reports how many objects remain, unless a selector filters the list', async () => {
  await using data = await makeDataDirectory();
  const store = openResourceStore(openObjectFiles(data.resources), () => {});
  const snapshots = createListSnapshots(store, () => 0);
  for (const name of ['a', 'b', 'c']) await add(store, name);
  expect(snapshots.page({ ...all, limit: 2 })).toMatchObject({ remaining: 1 });
  expect(snapshots.page({ ...all, limit: 3 })).toMatchObject({ remaining: undefined, continue: undefined });
  expect(snapshots.page({ ...all, limit: 1, matches: () => true }).remaining).toBeUndefined();
});
