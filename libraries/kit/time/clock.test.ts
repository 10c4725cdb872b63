import { expect, test } from 'vitest';
import { createFakeClock } from '../testing/fake-clock.ts';
import { systemClock } from './clock.ts';

test('the clock of the machine does not go back and tells the time of day', () => {
  const first = systemClock.now();
  expect(systemClock.now()).toBeGreaterThanOrEqual(first);
  const before = Date.now();
  expect(systemClock.date().getTime()).toBeGreaterThanOrEqual(before);
});

test('the fake clock stands still until it is moved', () => {
  const clock = createFakeClock(new Date('2026-03-01T10:00:00Z'));
  expect([clock.now(), clock.date().toISOString()]).toEqual([0, '2026-03-01T10:00:00.000Z']);
  clock.advance(1500);
  expect([clock.now(), clock.date().toISOString()]).toEqual([1500, '2026-03-01T10:00:01.500Z']);
});
