import { expect, test } from 'vitest';
import { createFakeClock } from '../testing/fake-clock.ts';
import { systemClock } from './clock.ts';

test('the system clock is monotonic and has the time of day', () => {
  const first = systemClock.now();
  expect(systemClock.now()).toBeGreaterThanOrEqual(first);
  const before = Date.now();
  expect(systemClock.date().getTime()).toBeGreaterThanOrEqual(before);
});

test('the fake clock changes only when it is advanced', () => {
  const clock = createFakeClock(new Date('2026-03-01T10:00:00Z'));
  expect([clock.now(), clock.date().toISOString()]).toEqual([0, '2026-03-01T10:00:00.000Z']);
  clock.advance(1500);
  expect([clock.now(), clock.date().toISOString()]).toEqual([1500, '2026-03-01T10:00:01.500Z']);
});
