import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { until } from '#kit/testing/until';
import { createPassScheduler } from './pass-scheduler.ts';

function schedulerAt() {
  const clock = createFakeClock();
  const scheduler = createPassScheduler({ clock });
  const listener = vi.fn();
  const stopListening = scheduler.listen(listener);
  return { scheduler, listener, stopListening, advance: clock.advance };
}

test('passes start for 5 ms in one iteration of the event loop, then the listener is called in the next one', async () => {
  const { scheduler, listener, advance } = schedulerAt();
  expect(scheduler.mayBegin()).toBe(true);
  advance(4.9);
  expect(scheduler.mayBegin()).toBe(true);
  advance(0.1);
  expect(scheduler.mayBegin()).toBe(false);
  await nextIteration();
  expect(listener).toHaveBeenCalledTimes(1);
  expect(scheduler.mayBegin()).toBe(true);
});

test('low-priority passes are not throttled while no high-priority pass runs', () => {
  const { scheduler, advance } = schedulerAt();
  for (let count = 0; count < 24; count += 1) {
    expect(scheduler.mayBeginLow()).toBe(true);
    scheduler.began(count % 2 === 0 ? 'low' : 'normal');
    advance(1);
  }
});

test('during a high-priority pass two low-priority passes run, and the listener is called when a third may start', async () => {
  const { scheduler, listener } = schedulerAt();
  scheduler.began('high');
  for (let count = 0; count < 2; count += 1) {
    expect(scheduler.mayBeginLow()).toBe(true);
    scheduler.began('low');
  }
  expect(scheduler.mayBeginLow()).toBe(false);
  scheduler.ended('low');
  await nextIteration();
  expect(listener).toHaveBeenCalledTimes(1);
  expect(scheduler.mayBeginLow()).toBe(true);
});

test('during a high-priority pass low-priority passes start for 2 ms, then pause, and the listener is called afterwards', async () => {
  const { scheduler, listener, advance } = schedulerAt();
  scheduler.began('high');
  expect(scheduler.mayBeginLow()).toBe(true);
  scheduler.began('low');
  advance(1.9);
  expect(scheduler.mayBeginLow()).toBe(true);
  advance(0.1);
  expect(scheduler.mayBeginLow()).toBe(false);
  advance(1);
  expect(scheduler.mayBeginLow()).toBe(false);
  await until('the pause is over', () => listener.mock.calls.length === 1);
  expect(scheduler.mayBeginLow()).toBe(true);
});

test('the pause of low-priority passes ends with the last high-priority pass', () => {
  const { scheduler, advance } = schedulerAt();
  scheduler.began('high');
  scheduler.began('low');
  advance(2);
  expect(scheduler.mayBeginLow()).toBe(false);
  scheduler.ended('high');
  expect(scheduler.mayBeginLow()).toBe(true);
});

test('a listener of the pass scheduler that was removed is not called', async () => {
  const { scheduler, listener, stopListening } = schedulerAt();
  stopListening();
  scheduler.mayBegin();
  await nextIteration();
  expect(listener).not.toHaveBeenCalled();
});

test('the time in which low-priority passes may start counts from the first pass that started', () => {
  const { scheduler, advance } = schedulerAt();
  scheduler.began('high');
  expect(scheduler.mayBeginLow()).toBe(true);
  advance(1_000);
  expect(scheduler.mayBeginLow()).toBe(true);
  scheduler.began('low');
  advance(2);
  expect(scheduler.mayBeginLow()).toBe(false);
});

test('the listener of the pass scheduler that was called first in one iteration is called last in the next', async () => {
  const scheduler = createPassScheduler();
  const called: string[] = [];
  for (const name of ['a', 'b', 'c']) scheduler.listen(() => void called.push(name));
  for (let count = 0; count < 3; count += 1) {
    scheduler.mayBegin();
    await nextIteration();
  }
  expect(called.join('')).toBe('abcbcacab');
});
