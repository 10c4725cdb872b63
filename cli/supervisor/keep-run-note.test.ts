import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { keepRunNote } from './keep-run-note.ts';

let folder: string;
let said: string[];
beforeEach(() => {
  said = [];
  folder = mkdtempSync(join(tmpdir(), 'run-note-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a run note exists while its process runs, even if its folder was removed', async () => {
  const ended = Promise.withResolvers<string>();
  const path = join(folder, 'run', 'one.json');
  await keepRunNote(path, '{}', ended.promise, (sentence) => said.push(sentence));
  expect(said).toEqual([]);
  expect(readFileSync(path, 'utf8')).toBe('{}');
  ended.resolve('ended');
  await until('the note is deleted', async () => !existsSync(path));
});

test('a run note that cannot be written does not delay the start and is written later', async () => {
  const ended = Promise.withResolvers<string>();
  const run = join(folder, 'run');
  const path = join(run, 'one.json');
  writeFileSync(run, 'a file where the folder should be');
  await keepRunNote(path, '{}', ended.promise, (sentence) => said.push(sentence));
  expect(said).toEqual([`${path} cannot be written; retrying every second`]);
  expect(existsSync(path)).toBe(false);
  rmSync(run);
  await until('the note is written', async () => existsSync(path));
  ended.resolve('ended');
  await until('the note is deleted', async () => !existsSync(path));
});

test('no run note is written for a process that has ended', async () => {
  const ended = Promise.withResolvers<string>();
  const run = join(folder, 'run');
  writeFileSync(run, 'a file where the folder should be');
  await keepRunNote(join(run, 'one.json'), '{}', ended.promise, (sentence) => said.push(sentence));
  ended.resolve('ended');
  await ended.promise;
  rmSync(run);
  await new Promise((resolve) => setImmediate(resolve));
  expect(existsSync(run)).toBe(false);
});
