import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { largestLogBytes, lastLines, openChildLog } from './child-log.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-log-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the last lines of a log are read, whatever its size', () => {
  const path = join(folder, 'a.log');
  expect(lastLines(path)).toEqual([]);
  writeFileSync(path, 'one\n\ntwo\nthree\n');
  expect(lastLines(path)).toEqual(['one', 'two', 'three']);
  writeFileSync(path, `${'x'.repeat(100_000)}\nlast\n`);
  expect(lastLines(path).at(-1)).toBe('last');
});

test('a log reports only the lines since it was opened, even after it was truncated', () => {
  const path = join(folder, 'logs/a.log');
  for (const earlier of [[], ['first']]) {
    using log = openChildLog(path);
    expect(log.lines()).toEqual([]);
    writeSync(log.descriptor, 'first\n');
    expect(log.lines()).toEqual(['first']);
    expect(lastLines(path)).toEqual([...earlier, 'first']);
    if (earlier.length === 0) continue;
    truncateSync(path);
    writeSync(log.descriptor, 'new\n');
    expect(log.lines()).toEqual(['new']);
  }
  expect([statSync(path).mode & 0o777, statSync(join(folder, 'logs')).mode & 0o777]).toEqual([0o600, 0o700]);
});

test.each([
  [largestLogBytes, false],
  [largestLogBytes + 1, true],
])('a log of %i bytes is renamed before a process appends to it: %s', (bytes, isRenamed) => {
  const path = join(folder, 'a.log');
  writeFileSync(path, Buffer.alloc(bytes, 'x'));
  using log = openChildLog(path);
  writeSync(log.descriptor, '\nnew\n');
  expect(log.lines()).toEqual(['new']);
  expect(statSync(path).size).toBe(isRenamed ? 5 : bytes + 5);
  if (isRenamed) expect(readFileSync(`${path}.1`)).toHaveLength(bytes);
});
