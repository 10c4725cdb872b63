import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { isRunning, markOf } from './process-identity.ts';

describe('the mark of a process', () => {
  test('holds while it runs and not after its end', async () => {
    const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1_000)'], { stdio: 'ignore' });
    const mark = markOf(child.pid ?? 0);
    if (mark === undefined) throw new Error('it runs');
    expect(isRunning(mark)).toBe(true);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    expect(isRunning(mark)).toBe(false);
    expect(markOf(mark.pid)).toBeUndefined();
  });

  test('is not that of another process with the same number', () => {
    const own = markOf(process.pid);
    if (own === undefined) throw new Error('it runs');
    expect(isRunning(own)).toBe(true);
    expect(isRunning({ ...own, identity: `${own.identity}0` })).toBe(false);
  });
});
