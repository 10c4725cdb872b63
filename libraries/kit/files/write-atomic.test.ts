import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FileWriteError, removeFile, writeAtomic } from './write-atomic.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'write-atomic-'));
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

test('a file is written and replaced, and no other file stays in the folder', async () => {
  const path = join(folder, 'a');
  await writeAtomic(path, Buffer.from('one'));
  await writeAtomic(path, 'два');
  expect(readFileSync(path, 'utf8')).toBe('два');
  expect(readdirSync(folder)).toEqual(['a']);
});

test.each([
  [undefined, 0o600],
  [0o644, 0o644],
  [0o666, 0o666],
])('a file with mode %s is written with %s, independent of the umask', async (mode, bits) => {
  const path = join(folder, 'a');
  writeFileSync(path, 'old', { mode: 0o640 });
  await writeAtomic(path, 'new', mode === undefined ? {} : { mode });
  expect(statSync(path).mode & 0o777).toBe(bits);
});

test('a reader never sees a partly written file', async () => {
  const path = join(folder, 'a');
  const contents = ['a', 'b'].map((letter) => letter.repeat(200_000));
  await writeAtomic(path, contents[0]!);
  let writing = true;
  const writer = (async () => {
    for (let round = 0; round < 20; round++) await writeAtomic(path, contents[round % 2]!);
    writing = false;
  })();
  const seen = new Set<string>();
  while (writing) {
    seen.add(readFileSync(path, 'utf8'));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await writer;
  expect([...seen].every((content) => contents.includes(content))).toBe(true);
});

test('writing into a missing folder fails with its cause', async () => {
  const error = await writeAtomic(join(folder, 'none', 'a'), '').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(FileWriteError);
  expect(error).toMatchObject({ code: 'other', cause: { code: 'ENOENT' } });
});

test('a target that cannot be replaced keeps its content, and no temporary file stays', async () => {
  mkdirSync(join(folder, 'a'));
  await expect(writeAtomic(join(folder, 'a'), 'new')).rejects.toBeInstanceOf(FileWriteError);
  expect(readdirSync(folder)).toEqual(['a']);
});

test('writing into a folder without permission fails with denied', async (context) => {
  context.skip(process.getuid?.() === 0, 'root may write everywhere');
  chmodSync(folder, 0o500);
  await expect(writeAtomic(join(folder, 'a'), '')).rejects.toMatchObject({ code: 'denied' });
});

test('removing a file removes it or fails with the reason', async () => {
  const path = join(folder, 'file');
  await writeAtomic(path, 'x');
  await removeFile(path);
  expect(readdirSync(folder)).toEqual([]);
  await expect(removeFile(path)).rejects.toMatchObject({ name: 'FileWriteError', code: 'other' });
});
