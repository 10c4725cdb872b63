import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { childrenOf, hasProcessTable } from '../testing/process-table.ts';
import { until } from '../testing/until.ts';
import { createKeptChildren, type KeptChildren } from './kept-child.ts';

const file = fileURLToPath(new URL('./testing/line-child.ts', import.meta.url));
const idleMs = 60_000;
const timeoutMs = 120_000;
const ended = { kind: 'ended', timedOut: false };

function open({
  mostAnswers = 100,
  maxAnswerLength = 1_048_576,
  nodeOptions = [] as readonly string[],
} = {}): KeptChildren {
  const children = createKeptChildren({ file, nodeOptions, idleMs, mostAnswers, maxAnswerLength });
  onTestFinished(() => children[Symbol.asyncDispose]());
  return children;
}

type Echo = { readonly pid: number; readonly line: string; readonly env: Readonly<Record<string, string>> };

/** Sends a line and waits for its answer. @returns the process and the lines that it received */
async function ask(children: KeptChildren, job: object = {}): Promise<Echo> {
  const answer = await children.ask(JSON.stringify(job), timeoutMs);
  if (answer.kind === 'ended') throw new Error('the process ended without an answer');
  return JSON.parse(answer.line);
}

const processes = (): readonly number[] => childrenOf(process.pid, file);

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

afterEach(() => vi.useRealTimers());

describe.skipIf(!hasProcessTable)('kept processes', () => {
  test('no kept process is started before the first line, and one process answers line after line', async () => {
    const children = open();
    expect(processes()).toEqual([]);
    const long = 'я\u2028'.repeat(200_000);
    const first = await ask(children, { note: 'one' });
    const second = await ask(children, { note: long });
    expect(first).toMatchObject({ line: '{"note":"one"}' });
    expect(JSON.parse(second.line).note).toBe(long);
    expect(second.pid).toBe(first.pid);
    expect(processes()).toEqual([first.pid]);
  });

  test('a process receives only the environment variables that Node needs', async () => {
    process.env['CHILD_TEST_SECRET'] = 'hunter2';
    onTestFinished(() => void delete process.env['CHILD_TEST_SECRET']);
    const { env } = await ask(open());
    expect(env).toMatchObject({ PATH: process.env['PATH'] });
    expect(env).not.toHaveProperty('CHILD_TEST_SECRET');
  });

  test('a process is started with the given options of Node', async () => {
    const { pid } = await ask(open({ nodeOptions: ['--max-old-space-size=64'] }));
    expect(childrenOf(process.pid, ` --max-old-space-size=64 ${file}`)).toEqual([pid]);
  });

  test('a kept process ends after its maximum number of answers, and its successor is started before the next question', async () => {
    const children = open({ mostAnswers: 2 });
    const first = await ask(children);
    expect((await ask(children)).pid).toBe(first.pid);
    const next = await until('another process waits', () =>
      processes().length === 1 && processes()[0] !== first.pid ? processes()[0] : undefined,
    );
    expect((await ask(children)).pid).toBe(next);
  });

  test('two concurrent lines have two processes, each receives its own line, and one process waits afterwards', async () => {
    const children = open();
    const [one, other] = await Promise.all([ask(children, { note: 'one' }), ask(children, { note: 'other' })]);
    expect(one.pid).not.toBe(other.pid);
    expect([one.line, other.line]).toEqual(['{"note":"one"}', '{"note":"other"}']);
    const [kept] = await until('one process waits', () => (processes().length === 1 ? processes() : undefined));
    expect([one.pid, other.pid]).toContain(kept);
    expect((await ask(children)).pid).toBe(kept);
  });

  test('a kept process that ended while it waited gets no line', async () => {
    const children = open();
    const { pid } = await ask(children);
    process.kill(pid, 'SIGKILL');
    await until('the process has ended', () => !isRunning(pid));
    expect((await ask(children, { note: 'two' })).line).toBe('{"note":"two"}');
  });

  test('a line at which a process ends has no answer, and a new process waits for the next line', async () => {
    const children = open();
    const { pid } = await ask(children);
    expect(await children.ask('{"ends":true}', timeoutMs)).toEqual(ended);
    const next = await until('a new process waits', () => (processes().length === 1 ? processes()[0] : undefined));
    expect(next).not.toBe(pid);
    expect((await ask(children)).pid).toBe(next);
  });

  test('a kept process without an answer within the time limit is killed', async () => {
    const children = open();
    const { pid } = await ask(children);
    expect(await children.ask('{"hangs":true}', 300)).toEqual({ kind: 'ended', timedOut: true });
    expect(isRunning(pid)).toBe(false);
    expect((await ask(children)).pid).not.toBe(pid);
  });

  test('a kept process that was killed at its timeout is not used again, even if its answer arrives before it ends', async () => {
    const children = open();
    const { pid } = await ask(children);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const late = children.ask('{}', timeoutMs);
    // While this process waits, the answer arrives in the pipe.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    vi.advanceTimersByTime(timeoutMs);
    await late;
    expect((await ask(children)).pid).not.toBe(pid);
  });

  test.each([false, true])(
    'an answer of a kept process above the limit is no answer: without a line feed %s',
    async (isOpen) => {
      const children = open({ maxAnswerLength: 1_000 });
      expect(await children.ask('{"out":1000}', timeoutMs)).toEqual({ kind: 'answered', line: 'o'.repeat(1_000) });
      expect(await children.ask(JSON.stringify({ out: 1_001, isOpen }), timeoutMs)).toEqual(ended);
    },
  );

  test('a kept process that receives no line ends after its idle time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const children = open();
    const { pid } = await ask(children);
    vi.advanceTimersByTime(idleMs - 1);
    expect(vi.getTimerCount()).toBe(1);
    expect(isRunning(pid)).toBe(true);
    vi.advanceTimersByTime(1);
    await until('the process has ended', () => !isRunning(pid));
    expect([processes(), vi.getTimerCount()]).toEqual([[], 0]);
  });

  test('disposal ends every kept process, and afterwards no line is answered and no process is started', async () => {
    const children = open();
    await ask(children);
    const hanging = [children.ask('{"hangs":true}', timeoutMs), children.ask('{"hangs":true}', timeoutMs)];
    await until('two processes run', () => processes().length === 2);
    await children[Symbol.asyncDispose]();
    expect(await Promise.all(hanging)).toEqual([ended, ended]);
    expect(await children.ask('{}', timeoutMs)).toEqual(ended);
    expect(processes()).toEqual([]);
  });

  test('disposal without a line ends the waiting process', async () => {
    const children = open();
    const { pid } = await ask(children);
    await children[Symbol.asyncDispose]();
    expect(isRunning(pid)).toBe(false);
  });
});
