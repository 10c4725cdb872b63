import { expect, test } from 'vitest';
import { createDeadlines } from './deadlines.ts';

const soon = (deadlines: ReturnType<typeof createDeadlines>, ms: number): Promise<number> => {
  const started = performance.now();
  return new Promise((resolve) => deadlines.start(ms, () => resolve(performance.now() - started)));
};

/** Deadlines do not keep the process alive, so the test must. */
const alive = async <T>(work: Promise<T>): Promise<T> => {
  const timer = setInterval(() => undefined, 1_000);
  return await work.finally(() => clearInterval(timer));
};

test('deadlines are called in the order in which they are due and never early', async () => {
  const deadlines = createDeadlines();
  const order: number[] = [];
  const waits = [40, 5, 20, 0].map(async (ms) => {
    expect(await soon(deadlines, ms)).toBeGreaterThanOrEqual(ms);
    order.push(ms);
  });
  await alive(Promise.all(waits));
  expect(order).toEqual([0, 5, 20, 40]);
});

test('deadlines that are overdue together are called in the order in which they were due', async () => {
  const deadlines = createDeadlines();
  const order: number[] = [];
  const waits = [3, 1, 2].map((ms) => soon(deadlines, ms).then(() => order.push(ms)));
  const begun = performance.now();
  while (performance.now() - begun < 10);
  await alive(Promise.all(waits));
  expect(order).toEqual([1, 2, 3]);
});

test('the callback of a due deadline can cancel another due deadline', async () => {
  const deadlines = createDeadlines();
  const came: string[] = [];
  const second = deadlines.start(2, () => came.push('second'));
  deadlines.start(1, () => deadlines.cancel(second));
  const begun = performance.now();
  while (performance.now() - begun < 10);
  await alive(soon(deadlines, 5));
  expect(came).toEqual([]);
});

test('a cancelled deadline is not called, and the others are', async () => {
  const deadlines = createDeadlines();
  const came: string[] = [];
  const cancelled = deadlines.start(5, () => came.push('cancelled'));
  const kept = soon(deadlines, 15).then(() => came.push('kept'));
  deadlines.cancel(cancelled);
  await alive(kept);
  await alive(soon(deadlines, 5));
  expect(came).toEqual(['kept']);
});

test('the callback of a due deadline can start another deadline', async () => {
  const deadlines = createDeadlines();
  const second = Promise.withResolvers<string>();
  deadlines.start(1, () => deadlines.start(1, () => second.resolve('second')));
  expect(await alive(second.promise)).toBe('second');
});
