import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { until } from '../../../e2e/support/until.ts';
import { isAtWork, isRunning, markOf } from './process-identity.ts';

describe('the mark of a process', () => {
  test('holds while it runs and not after its end', async () => {
    const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1_000)'], { stdio: 'ignore' });
    const mark = markOf(child.pid ?? 0);
    if (mark === undefined) throw new Error('it runs');
    expect([isRunning(mark), isAtWork(mark)]).toEqual([true, true]);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    expect([isRunning(mark), isAtWork(mark)]).toEqual([false, false]);
    expect(markOf(mark.pid)).toBeUndefined();
  });

  test.runIf(process.platform === 'linux')(
    'holds until its last thread has ended, and the process is at work until its first one has',
    async () => {
      // As the kernel ends a process: the first thread is gone, and another one still there.
      const script = `import ctypes, threading, sys
threading.Thread(target=sys.stdin.read).start()
print('started', flush=True)
ctypes.CDLL(None).pthread_exit(None)`;
      const child = spawn('python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      await once(child.stdout, 'data');
      const mark = markOf(child.pid ?? 0);
      if (mark === undefined) throw new Error('it runs');
      await until('its first thread has ended', () => !isAtWork(mark));
      expect(isRunning(mark)).toBe(true);
      child.kill('SIGKILL');
      await ended;
      expect(isRunning(mark)).toBe(false);
    },
  );

  test('is not that of another process with the same number', () => {
    const own = markOf(process.pid);
    if (own === undefined) throw new Error('it runs');
    expect(isRunning(own)).toBe(true);
    expect(isRunning({ ...own, identity: `${own.identity}0` })).toBe(false);
  });
});
