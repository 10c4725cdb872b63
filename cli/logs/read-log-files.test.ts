import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createFileLogs, selectLines } from './read-log-files.ts';

const never = new AbortController().signal;
const line = (time: string, event: string): string => JSON.stringify({ level: 'info', time, event });

test('lines since a time are selected together with their continuation lines, and then the last lines of these', () => {
  const lines = [
    line('2026-01-01T10:00:00.000Z', 'old'),
    '  at old',
    line('2026-01-01T11:00:00.000Z', 'new'),
    '  at new',
  ];
  const now = Date.parse('2026-01-01T11:00:30.000Z');
  expect(selectLines(lines, { sinceSeconds: 60 }, now)).toEqual(lines.slice(2));
  expect(selectLines(lines, { sinceSeconds: 60, tail: 1 }, now)).toEqual(['  at new']);
  expect(selectLines(lines, { tail: 0 }, now)).toEqual([]);
  expect(selectLines(lines, {}, now)).toEqual(lines);
});

test('a log is read with its rotated part and followed across a rotation', async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'gateway-1.log');
  writeFileSync(`${file}.1`, 'one\n');
  writeFileSync(file, 'two\n');
  writeFileSync(join(folder.path, 'g-0a1b-0.log'), '');
  const logs = createFileLogs(folder.path);
  expect(await logs.list()).toEqual([
    { name: 'g-0a1b-0', component: 'runtime', workload: 'g-0a1b' },
    { name: 'gateway-1', component: 'gateway' },
  ]);
  expect(await Array.fromAsync(logs.read('gateway-1', { follow: false, signal: never }))).toEqual(['one', 'two']);
  const stop = new AbortController();
  const seen: string[] = [];
  const following = (async () => {
    for await (const one of logs.read('gateway-1', { follow: true, tail: 1, signal: stop.signal })) seen.push(one);
  })();
  await until('the last line is read', () => seen.includes('two'));
  appendFileSync(file, 'three\nfo');
  await until('a whole line is read', () => seen.includes('three'));
  appendFileSync(file, 'ur\n');
  await until('the rest is read', () => seen.includes('four'));
  writeFileSync(file, 'x\n');
  await until('the rotated file is read', () => seen.includes('x'));
  stop.abort();
  await following;
  expect(seen).toEqual(['two', 'three', 'four', 'x']);
});
