import { writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { openClientKeys } from './client-keys.ts';

const bearer = (key: string): string[] => ['Authorization', `Bearer ${key}`];

test('a key is the first word of a line, and a changed file takes effect within a second', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'keys');
  const clock = createFakeClock();
  await writeFile(path, 'one Anna\n\n  two\tBoris Second\n');
  const keys = openClientKeys(path, { clock });
  expect(keys.admits(bearer('one'))).toBeDefined();
  expect(keys.admits(bearer('two'))).toBeDefined();
  expect(keys.admits(bearer('Anna'))).toBeUndefined();
  expect(keys.admits([])).toBeUndefined();
  expect(keys.admits([...bearer('one'), ...bearer('one')])).toBeUndefined();
  expect(keys.admits(['Authorization', 'Basic one'])).toBeUndefined();
  await writeFile(path, 'three\n');
  clock.advance(999);
  expect(keys.admits(bearer('one'))).toBeDefined();
  clock.advance(1);
  expect(keys.admits(bearer('one'))).toBeUndefined();
  expect(keys.admits(bearer('three'))).toBeDefined();
  await rm(path);
  clock.advance(1_000);
  expect(keys.admits(bearer('three'))).toBeUndefined();
  await writeFile(path, 'four\n');
  clock.advance(1_000);
  expect(keys.admits(bearer('four'))).toBeDefined();
});

test('the rate of a client key continues where its file was missing for a while', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'keys');
  const clock = createFakeClock();
  await writeFile(path, 'one rate=1/hour\n');
  const keys = openClientKeys(path, { clock });
  const limitOf = (key: string) => keys.admits(bearer(key))?.limit;
  const first = limitOf('one');
  expect(first).toBeDefined();
  await rm(path);
  clock.advance(1_000);
  expect(keys.admits(bearer('one'))).toBeUndefined();
  await writeFile(path, 'one rate=1/hour\ntwo rate=1/hour\n');
  clock.advance(1_000);
  expect(limitOf('one')).toBe(first);
  expect(limitOf('two')).not.toBe(first);
});

test('a missing key file, or a key file without keys, is refused at startup by name', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'keys');
  expect(() => openClientKeys(path)).toThrow(`file of client keys ${path}: cannot be read`);
  writeFileSync(path, '\n \n');
  expect(() => openClientKeys(path)).toThrow(`file of client keys ${path}: holds no key`);
});
