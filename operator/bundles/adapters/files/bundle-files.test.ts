import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256Hex } from '#contracts/canonical';
import { createLogger } from '#kit/log/logger';
import { type BundlePlace, describeBundleStore } from '../../testing/bundle-store-suite.ts';
import { createBundleFiles } from './bundle-files.ts';

const logger = createLogger({ service: 'test', level: 'error' });

async function openFolder(): Promise<BundlePlace & { readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-bundles-'));
  let store = createBundleFiles(folder, logger);
  const pathOf = (digest: string): string => join(folder, `${digest}.json`);
  return {
    folder,
    get store() {
      return store;
    },
    read: (digest) => readFile(pathOf(digest), 'utf8').catch(() => undefined),
    remove: (digest) => rm(pathOf(digest)),
    async succeed() {
      await store[Symbol.asyncDispose]();
      store = createBundleFiles(folder, logger);
      return store;
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describeBundleStore('files', openFolder);

test('a damaged bundle file is written again', async () => {
  await using place = await openFolder();
  const bytes = Buffer.from('{"text":"one"}');
  const digest = sha256Hex(bytes);
  await writeFile(join(place.folder, `${digest}.json`), '{"text":');
  using _held = await place.store.put(digest, bytes);
  expect(await place.read(digest)).toBe(bytes.toString());
});

test('other files in the folder of bundles are not removed', async () => {
  await using place = await openFolder();
  await writeFile(join(place.folder, 'notes.json'), '{}');
  await place.store.sweep(async () => new Set());
  expect(await readFile(join(place.folder, 'notes.json'), 'utf8')).toBe('{}');
});
