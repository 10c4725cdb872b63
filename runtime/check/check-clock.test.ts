import { readFile } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { systemClock } from '#kit/time/clock';
import { isPastDeadline, look, mustYield, sliceMs, startCheckClock, yieldToEventLoop } from './check-clock.ts';

describe('the clock of a check', () => {
  test('a due timer runs before the next engine pass, even when the check began in the callback of a read', async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      // A check begins in the callback of a read: its body arrived.
      readFile(import.meta.filename, async () => {
        const time = startCheckClock(systemClock, Number.POSITIVE_INFINITY);
        setTimeout(() => order.push('timer'), 1);
        while (systemClock.now() - time.since < 5);
        await yieldToEventLoop(time);
        order.push('next pass');
        resolve();
      });
    });
    expect(order).toEqual(['timer', 'next pass']);
  });

  test('a check gets a new time slice after it yields to the event loop', async () => {
    const time = startCheckClock(systemClock, Number.POSITIVE_INFINITY);
    expect(mustYield({ ...time, now: time.since + sliceMs - 0.01 })).toBe(false);
    expect(mustYield({ ...time, now: time.since + sliceMs })).toBe(true);
    const before = time.since;
    await yieldToEventLoop(time);
    expect(time.since).toBeGreaterThan(before);
  });

  test('the deadline of a check is compared with the last reading of the clock, not with the current time', () => {
    const clock = createFakeClock();
    const time = startCheckClock(clock, clock.now() + 10);
    clock.advance(10);
    expect(isPastDeadline(time)).toBe(false);
    look(time);
    expect(isPastDeadline(time)).toBe(true);
    expect(isPastDeadline({ ...time, now: time.deadline - 0.01 })).toBe(false);
  });
});
