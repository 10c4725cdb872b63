import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { isAtWork, isSameProcessRunning, processMark } from './process-identity.ts';

describe('the identity of a process', () => {
  test('the identity of a process is valid while it runs and not after its end', async () => {
    const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1_000)'], { stdio: 'ignore' });
    const mark = processMark(child.pid ?? 0);
    if (mark === undefined) throw new Error('it runs');
    expect([isSameProcessRunning(mark), isAtWork(mark)]).toEqual([true, true]);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    expect([isSameProcessRunning(mark), isAtWork(mark)]).toEqual([false, false]);
    expect(processMark(mark.pid)).toBeUndefined();
  });

  test.runIf(process.platform === 'linux')(
    'the identity of a process is valid until its last thread has ended, and the process counts as working until its first thread has ended',
    async () => {
      // The kernel ends a process thread by thread: in this script the first thread has ended, and another thread still
      // exists.
      const script = `import ctypes, threading, sys
threading.Thread(target=sys.stdin.read).start()
print('started', flush=True)
ctypes.CDLL(None).pthread_exit(None)`;
      const child = spawn('python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      await once(child.stdout, 'data');
      const mark = processMark(child.pid ?? 0);
      if (mark === undefined) throw new Error('it runs');
      await until('its first thread has ended', () => !isAtWork(mark));
      expect(isSameProcessRunning(mark)).toBe(true);
      child.kill('SIGKILL');
      await ended;
      expect(isSameProcessRunning(mark)).toBe(false);
    },
  );

  test('the identity of a process differs from that of another process with the same id', () => {
    const own = processMark(process.pid);
    if (own === undefined) throw new Error('it runs');
    expect(isSameProcessRunning(own)).toBe(true);
    expect(isSameProcessRunning({ ...own, identity: `${own.identity}0` })).toBe(false);
  });
});
