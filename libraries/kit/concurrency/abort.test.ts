import { getEventListeners, once } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withTimeout } from './abort.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a signal with a timeout is aborted at its timeout and not before', () => {
  using deadline = withTimeout(undefined, 100);
  vi.advanceTimersByTime(99);
  expect([deadline.signal.aborted, deadline.timedOut()]).toEqual([false, false]);
  vi.advanceTimersByTime(1);
  expect([deadline.signal.aborted, deadline.timedOut()]).toEqual([true, true]);
  expect(deadline.signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('a signal with a timeout is aborted with its parent and with the reason of the parent', async () => {
  const parent = new AbortController();
  using deadline = withTimeout(parent.signal, 100);
  const ended = once(deadline.signal, 'abort');
  parent.abort('gone');
  await ended;
  expect([deadline.signal.reason, deadline.timedOut(), vi.getTimerCount()]).toEqual(['gone', false, 0]);
});

test('an aborted parent aborts the signal immediately', () => {
  using deadline = withTimeout(AbortSignal.abort('gone'), 100);
  expect([deadline.signal.reason, deadline.timedOut(), vi.getTimerCount()]).toEqual(['gone', false, 0]);
});

test('a signal with a timeout is not affected by a parent that is aborted after the timeout', () => {
  const parent = new AbortController();
  using deadline = withTimeout(parent.signal, 100);
  vi.advanceTimersByTime(100);
  parent.abort('gone');
  expect([deadline.timedOut(), deadline.signal.reason.name]).toEqual([true, 'TimeoutError']);
});

test('disposing a signal with a timeout removes its timer and its listener and does not abort the signal', () => {
  const parent = new AbortController();
  const deadline = withTimeout(parent.signal, 100);
  deadline[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0);
  parent.abort();
  expect([deadline.signal.aborted, deadline.timedOut()]).toEqual([false, false]);
});
