import { expect, test } from 'vitest';
import { createSemaphore } from './semaphore.ts';

const never = new AbortController().signal;

test('a semaphore has as many slots as its limit', () => {
  const semaphore = createSemaphore(2);
  const first = semaphore.tryAcquire();
  expect(semaphore.tryAcquire()).toBeDefined();
  expect(semaphore.inUse).toBe(2);
  expect(semaphore.tryAcquire()).toBeUndefined();
  first?.();
  expect(semaphore.inUse).toBe(1);
  expect(semaphore.tryAcquire()).toBeDefined();
});

test('a slot that is released twice is returned once', () => {
  const semaphore = createSemaphore(2);
  const first = semaphore.tryAcquire();
  semaphore.tryAcquire();
  first?.();
  first?.();
  expect(semaphore.inUse).toBe(1);
});

test('waiting acquirers get slots in first-in-first-out order', async () => {
  const semaphore = createSemaphore(1);
  const order: string[] = [];
  const held = await semaphore.acquire(never);
  const waiting = ['a', 'b'].map(async (name) => {
    const release = await semaphore.acquire(never);
    order.push(name);
    release();
  });
  held();
  expect(semaphore.tryAcquire()).toBeUndefined();
  await Promise.all(waiting);
  expect(order).toEqual(['a', 'b']);
  expect(semaphore.inUse).toBe(0);
});

test('an aborted acquire fails with the reason and uses no slot', async () => {
  const semaphore = createSemaphore(1);
  const held = await semaphore.acquire(never);
  const control = new AbortController();
  const waiting = semaphore.acquire(control.signal);
  control.abort('enough');
  await expect(waiting).rejects.toBe('enough');
  await expect(semaphore.acquire(control.signal)).rejects.toBe('enough');
  held();
  expect(semaphore.inUse).toBe(0);
  expect(semaphore.tryAcquire()).toBeDefined();
});

test.each([0, -1, 1.5, Number.NaN])('a semaphore with the limit %d is refused', (limit) => {
  expect(() => createSemaphore(limit)).toThrow(RangeError);
});
