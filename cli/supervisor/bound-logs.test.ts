import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { largestLogBytes } from '#kit/process/child-log';
import { until } from '#kit/testing/until';
import { folderWithFiles } from '../testing/run-cli.ts';
import { boundLogs, rotateLog } from './bound-logs.ts';

test.each([
  [largestLogBytes, false],
  [largestLogBytes + 1, true],
])('the log of a process is rotated at its size limit, here with %i bytes: %s', (bytes, isRotated) => {
  using folder = folderWithFiles();
  const log = join(folder.path, 'gateway-1.log');
  writeFileSync(log, Buffer.alloc(bytes, 'x'), { mode: 0o600 });
  expect(rotateLog(log, largestLogBytes)).toBe(isRotated);
  expect(statSync(log).size).toBe(isRotated ? 0 : bytes);
  expect(existsSync(`${log}.1`)).toBe(isRotated);
  if (isRotated) expect(statSync(`${log}.1`)).toMatchObject({ size: bytes, mode: 0o100600 });
});

test('a rotation replaces the previous rotated log', () => {
  using folder = folderWithFiles();
  const log = join(folder.path, 'a.log');
  for (const letter of ['first', 'then']) {
    writeFileSync(log, letter);
    expect(rotateLog(log, 3)).toBe(true);
  }
  expect(readFileSync(`${log}.1`, 'utf8')).toBe('then');
});

test('a log that cannot be rotated is not changed, and a missing log is not rotated', () => {
  using folder = folderWithFiles();
  const log = join(folder.path, 'a.log');
  writeFileSync(log, 'long enough');
  // A folder with the name of the copy causes the same failure as a full disk.
  mkdirSync(`${log}.1`);
  expect(rotateLog(log, 3)).toBe(false);
  expect(readFileSync(log, 'utf8')).toBe('long enough');
  expect(rotateLog(join(folder.path, 'none.log'), 3)).toBe(false);
});

describe('processes that write during a rotation', () => {
  test('logs stay within the limit while they are written, with complete lines in order', async () => {
    using folder = folderWithFiles();
    const largest = 20_000;
    using bounded = boundLogs(folder.path, largest, 5);
    void bounded;
    const names = ['gateway-1.log', 'g-0123-0.log'];
    const children = names.map((name) => writerOf(join(folder.path, name)));
    await until('each log was rotated more than once', () =>
      names.every((name) => firstNumber(join(folder.path, `${name}.1`)) > 1_000),
    );
    for (const child of children) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    for (const name of names) {
      await until('the log stays below the limit', () => statSync(join(folder.path, name)).size <= largest);
      const text = `${readFileSync(join(folder.path, `${name}.1`), 'utf8')}${readFileSync(join(folder.path, name), 'utf8')}`;
      // The last line may be incomplete, because its writer was killed.
      const numbers = text.split('\n').slice(0, -1).map(Number);
      expect(numbers.length).toBeGreaterThan(1_000);
      expect(numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))).toBe(true);
    }
  });
});

/** Appends numbered lines to a file until the process is killed. */
function writerOf(log: string) {
  const script = `
    let number = 0;
    setInterval(() => { for (let i = 0; i < 20; i += 1) require('fs').writeSync(2, String(++number).padStart(12, '0') + '\\n'); }, 1);`;
  return spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', openSync(log, 'a', 0o600)] });
}

function firstNumber(path: string): number {
  return existsSync(path) ? Number(readFileSync(path, 'utf8').slice(0, 12)) : 0;
}
