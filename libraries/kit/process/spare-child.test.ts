import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { childrenOf, hasProcessTable } from '../testing/process-table.ts';
import { until } from '../testing/until.ts';
import { createSpareChild, type SpareChild } from './spare-child.ts';

const file = fileURLToPath(new URL('./testing/child.ts', import.meta.url));
const idleMs = 60_000;
const timeoutMs = 120_000;

function open(): SpareChild {
  const children = createSpareChild({ file, idleMs, maxOutputBytes: 1_048_576 });
  onTestFinished(() => children[Symbol.asyncDispose]());
  return children;
}

/** Runs a child to its end. @returns its process and its input */
async function run(children: SpareChild, job: object = {}): Promise<{ readonly pid: number; readonly input: string }> {
  const { code, stdout } = await children.run({ input: JSON.stringify(job), timeoutMs });
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

const processes = (): readonly number[] => childrenOf(process.pid, file);
const spareProcess = (): Promise<number> =>
  until('one process waits', () => (processes().length === 1 ? processes()[0] : undefined));

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

afterEach(() => vi.useRealTimers());

describe.skipIf(!hasProcessTable)('a spare process', () => {
  test('a spare process is started after the first run, receives the next input only, and ends with its run', async () => {
    const children = open();
    expect(processes()).toEqual([]);
    const first = await run(children, { note: 'one' });
    const spare = await spareProcess();
    const second = await run(children, { note: 'two' });
    expect(second).toMatchObject({ pid: spare, input: '{"note":"two"}' });
    expect(isRunning(spare)).toBe(false);
    const third = await run(children, { note: 'three' });
    expect(new Set([first.pid, second.pid, third.pid]).size).toBe(3);
  });

  test('a run whose spare process has ended starts a new process', async () => {
    const children = open();
    await run(children);
    const spare = await spareProcess();
    process.kill(spare, 'SIGKILL');
    await until('the spare process has ended', () => !isRunning(spare));
    expect(await run(children, { note: 'two' })).toMatchObject({ input: '{"note":"two"}' });
    expect(await spareProcess()).not.toBe(spare);
  });

  test('a run that fails is followed by a new spare process', async () => {
    const children = open();
    expect(await children.run({ input: 'no job', timeoutMs })).toMatchObject({ code: 1, timedOut: false });
    const spare = await spareProcess();
    expect(await run(children)).toMatchObject({ pid: spare });
  });

  test('two concurrent runs have two processes, and leave one spare process', async () => {
    const children = open();
    await run(children);
    const spare = await spareProcess();
    const [one, other] = await Promise.all([run(children, { note: 'one' }), run(children, { note: 'other' })]);
    expect([one.pid, other.pid].filter((pid) => pid === spare)).toHaveLength(1);
    expect([one.input, other.input]).toEqual(['{"note":"one"}', '{"note":"other"}']);
    const next = await spareProcess();
    expect([one.pid, other.pid]).not.toContain(next);
  });

  test('a spare process that receives no input ends after its idle time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const children = open();
    await run(children);
    const spare = await spareProcess();
    vi.advanceTimersByTime(idleMs - 1);
    expect(vi.getTimerCount()).toBe(1);
    expect(isRunning(spare)).toBe(true);
    vi.advanceTimersByTime(1);
    await until('the spare process has ended', () => !isRunning(spare));
    expect([processes(), vi.getTimerCount()]).toEqual([[], 0]);
  });

  test('a disposal ends the spare process and a run in progress, and starts no process', async () => {
    const children = open();
    await run(children);
    await spareProcess();
    const hanging = children.run({ input: '{"hang":true}', timeoutMs });
    const other = children.run({ input: '{"hang":true}', timeoutMs });
    await until('two processes run', () => processes().length === 2);
    await children[Symbol.asyncDispose]();
    expect(await Promise.all([hanging, other])).toMatchObject([{ code: null }, { code: null }]);
    expect(processes()).toEqual([]);
  });

  test('a disposal without a run in progress ends the spare process', async () => {
    const children = open();
    await run(children);
    const spare = await spareProcess();
    await children[Symbol.asyncDispose]();
    expect(isRunning(spare)).toBe(false);
  });
});
