import { getEventListeners, once } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withTimeout } from './abort.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('ends with the time, not before', () => {
  using deadline = withTimeout(undefined, 100);
  vi.advanceTimersByTime(99);
  expect([deadline.signal.aborted, deadline.timedOut()]).toEqual([false, false]);
  vi.advanceTimersByTime(1);
  expect([deadline.signal.aborted, deadline.timedOut()]).toEqual([true, true]);
  expect(deadline.signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('ends with its parent, with the reason of the parent', async () => {
  const parent = new AbortController();
  using deadline = withTimeout(parent.signal, 100);
  const ended = once(deadline.signal, 'abort');
  parent.abort('gone');
  await ended;
  expect([deadline.signal.reason, deadline.timedOut(), vi.getTimerCount()]).toEqual(['gone', false, 0]);
});

test('a parent that has ended ends it at once', () => {
  using deadline = withTimeout(AbortSignal.abort('gone'), 100);
  expect([deadline.signal.reason, deadline.timedOut(), vi.getTimerCount()]).toEqual(['gone', false, 0]);
});

test('a parent that ends after the time changes nothing', () => {
  const parent = new AbortController();
  using deadline = withTimeout(parent.signal, 100);
  vi.advanceTimersByTime(100);
  parent.abort('gone');
  expect([deadline.timedOut(), deadline.signal.reason.name]).toEqual([true, 'TimeoutError']);
});

test('disposing leaves neither timer nor listener, and does not abort', () => {
  const parent = new AbortController();
  const deadline = withTimeout(parent.signal, 100);
  deadline[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0);
  parent.abort();
  expect([deadline.signal.aborted, deadline.timedOut()]).toEqual([false, false]);
});
