import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { KubeError } from '../client/kube-error.ts';
import { createPassScheduler } from './pass-scheduler.ts';
import { createWorkQueue, type WorkQueueOptions } from './work-queue.ts';

type Gate = { readonly promise: Promise<void>; readonly resolve: () => void };

/** A queue that records its passes; the pass of a held key ends when its gate opens. */
function queueOf(options: Partial<WorkQueueOptions> = {}) {
  const passes: string[] = [];
  const errors: [string, number][] = [];
  const gates = new Map<string, Gate>();
  const queue = createWorkQueue({
    concurrency: 1,
    firstBackoffMs: 5,
    maxBackoffMs: 20,
    async process(key) {
      passes.push(key);
      await gates.get(key)?.promise;
    },
    onError: (key, _error, attempt) => void errors.push([key, attempt]),
    ...options,
  });
  function hold(key: string): Gate {
    const gate = Promise.withResolvers<void>();
    gates.set(key, gate);
    return gate;
  }
  return { queue, passes, errors, hold };
}

test('a queued key gets one pass, however often it was added to the work queue', async () => {
  const { queue, passes, hold } = queueOf();
  await using _ = queue;
  const gate = hold('first');
  queue.add('first');
  for (let at = 0; at < 5; at += 1) for (const key of ['a', 'b']) queue.add(key);
  expect(queue.counts()).toMatchObject({ depth: 2, active: 1, adds: 3 });
  gate.resolve();
  await queue.idle();
  expect(passes).toEqual(['first', 'a', 'b']);
  expect(queue.counts()).toMatchObject({ depth: 0, active: 0, outcomes: { success: 3, error: 0, requeue_after: 0 } });
});

test('passes without I/O do not block the event loop until the queue is empty', async () => {
  let passes = 0;
  await using queue = createWorkQueue({
    concurrency: 4,
    onError: () => {},
    async process() {
      const since = performance.now();
      while (performance.now() - since < 1);
      passes += 1;
    },
  });
  for (let at = 0; at < 100; at += 1) queue.add(String(at));
  await new Promise((resolve) => setImmediate(resolve));
  expect(passes).toBeLessThan(100);
  await queue.idle();
  expect(passes).toBe(100);
});

test('passes over one key never overlap, and a key that is added during its pass gets another one', async () => {
  let running = 0;
  let most = 0;
  const passes: string[] = [];
  const gate = Promise.withResolvers<void>();
  await using queue = createWorkQueue({
    concurrency: 4,
    onError: () => {},
    async process(key) {
      running += 1;
      most = Math.max(most, running);
      passes.push(key);
      await gate.promise;
      running -= 1;
    },
  });
  for (let at = 0; at < 3; at += 1) queue.add('key');
  expect(passes).toEqual(['key']);
  expect(queue.counts().longestSeconds).toBeGreaterThanOrEqual(0);
  gate.resolve();
  await queue.idle();
  expect(passes).toEqual(['key', 'key']);
  expect(most).toBe(1);
});

test('a queue runs as many concurrent passes as its concurrency allows', async () => {
  const gates = new Map(['a', 'b', 'c'].map((key) => [key, Promise.withResolvers<void>()]));
  const passes: string[] = [];
  await using queue = createWorkQueue({
    concurrency: 2,
    onError: () => {},
    async process(key) {
      passes.push(key);
      await gates.get(key)?.promise;
    },
  });
  for (const key of gates.keys()) queue.add(key);
  expect(passes).toEqual(['a', 'b']);
  gates.get('b')?.resolve();
  await until('the third key', () => passes.length === 3);
  for (const gate of gates.values()) gate.resolve();
  await queue.idle();
});

test('a queue takes high-priority keys first and low-priority keys last, and starves none', async () => {
  const { queue, passes, hold } = queueOf();
  await using _ = queue;
  const gate = hold('first');
  queue.add('first');
  queue.add('low', { priority: 'low' });
  for (let at = 0; at < 9; at += 1) queue.add(`normal-${at}`);
  queue.add('high', { priority: 'high' });
  queue.add('normal-8', { priority: 'high' });
  gate.resolve();
  await queue.idle();
  expect(passes.slice(0, 4)).toEqual(['first', 'high', 'normal-8', 'normal-0']);
  expect(passes.indexOf('low')).toBeLessThan(passes.length - 1);
  expect(passes).toHaveLength(12);
});

test('the count of consecutive failures of a key restarts after a success', async () => {
  let failures = 4;
  const errors: number[] = [];
  await using queue = createWorkQueue({
    concurrency: 1,
    firstBackoffMs: 2,
    maxBackoffMs: 8,
    onError: (_key, _error, attempt) => void errors.push(attempt),
    async process() {
      if (failures-- > 0) throw new TypeError('no');
    },
  });
  queue.add('key');
  await until('a success', () => queue.counts().outcomes.success === 1);
  failures = 1;
  queue.add('key');
  await until('another', () => queue.counts().outcomes.success === 2);
  expect(errors).toEqual([1, 2, 3, 4, 1]);
  expect(queue.counts()).toMatchObject({ retries: 5, outcomes: { error: 5 } });
});

test('a failed key is not retried before the Retry-After of the server', async () => {
  const { queue, passes } = queueOf({
    async process() {
      passes.push('key');
      throw new KubeError('too_many_requests', 'busy', { retryAfterMs: 3_600_000 });
    },
  });
  await using _ = queue;
  queue.add('key');
  await until('the error', () => queue.counts().delayed === 1);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(passes).toEqual(['key']);
});

test('adding a key that waits for its backoff starts a pass immediately', async () => {
  let fails = true;
  const { queue, passes } = queueOf({
    firstBackoffMs: 3_600_000,
    maxBackoffMs: 3_600_000,
    async process(key) {
      passes.push(key);
      if (fails) throw new TypeError('no');
    },
  });
  await using _ = queue;
  queue.add('key');
  await until('the error', () => queue.counts().delayed === 1);
  fails = false;
  queue.add('key');
  await queue.idle();
  expect(passes).toEqual(['key', 'key']);
  expect(queue.counts().delayed).toBe(0);
});

test('a key is queued again after the earliest of the requested delays', async () => {
  const { queue, passes } = queueOf({
    async process(key) {
      passes.push(key);
      return passes.length === 1 ? { requeueAfterMs: 3_600_000 } : undefined;
    },
  });
  await using _ = queue;
  queue.add('key');
  await queue.idle();
  expect(queue.counts()).toMatchObject({ delayed: 1, outcomes: { requeue_after: 1 } });
  queue.addAfter('key', 7_200_000);
  queue.addAfter('key', 5);
  await until('the second pass', () => passes.length === 2);
});

test('disposing a work queue aborts the running pass, waits for its end, and starts no other', async () => {
  const passes: string[] = [];
  let hasEnded = false;
  const queue = createWorkQueue({
    concurrency: 1,
    onError: () => {},
    async process(key, signal) {
      passes.push(key);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      hasEnded = true;
    },
  });
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 1);
  await queue[Symbol.asyncDispose]();
  queue.add('d');
  expect(hasEnded).toBe(true);
  expect(passes).toEqual(['a']);
  await queue.idle();
});

test('low-priority keys of all queues are throttled during a high-priority pass, and all get a pass in the end', async () => {
  const scheduler = createPassScheduler({ clock: { now: () => 0, date: () => new Date(0) } });
  const urgent = Promise.withResolvers<void>();
  const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  let started = 0;
  await using edits = createWorkQueue({ concurrency: 4, scheduler, onError: () => {}, process: () => urgent.promise });
  await using others = createWorkQueue({
    concurrency: 4,
    scheduler,
    onError: () => {},
    process: async (key) => {
      started += 1;
      await gates[Number(key)]?.promise;
    },
  });
  edits.add('edit', { priority: 'high' });
  for (const key of gates.keys()) others.add(String(key), { priority: 'low' });
  expect(started).toBe(2);
  others.add('normal');
  expect(started).toBe(3);
  gates[0]?.resolve();
  await until('a third low-priority pass', () => started === 4);
  urgent.resolve();
  await until('the last pass', () => started === 5);
  for (const gate of gates) gate.resolve();
  await others.idle();
  expect(others.counts()).toMatchObject({ depth: 0, active: 0, outcomes: { success: 5 } });
});

test.each(['normal', 'low'] as const)(
  'a %s-priority key gets a pass although another queue uses up every iteration of the event loop',
  async (priority) => {
    const scheduler = createPassScheduler();
    let isDone = false;
    await using busy = createWorkQueue({
      concurrency: 24,
      scheduler,
      onError: () => {},
      async process(key) {
        const since = performance.now();
        while (performance.now() - since < 2);
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (!isDone) busy.add(key, { priority: 'high' });
      },
    });
    await using others = createWorkQueue({
      concurrency: 4,
      scheduler,
      onError: () => {},
      process: async () => {
        isDone = true;
      },
    });
    for (let at = 0; at < 48; at += 1) busy.add(String(at), { priority: 'high' });
    others.add('key', { priority });
    await until('the pass', () => isDone);
    await busy.idle();
  },
);

test('a low-priority key gets a pass although high-priority keys of its queue use up every iteration', async () => {
  let isDone = false;
  await using queue = createWorkQueue({
    concurrency: 4,
    onError: () => {},
    async process(key) {
      if (key === 'low') {
        isDone = true;
        return;
      }
      const since = performance.now();
      while (performance.now() - since < 6);
      await new Promise((resolve) => setImmediate(resolve));
      if (!isDone) queue.add(key, { priority: 'high' });
    },
  });
  for (let at = 0; at < 12; at += 1) queue.add(String(at), { priority: 'high' });
  queue.add('low', { priority: 'low' });
  await until('the pass', () => isDone);
  await queue.idle();
});
