import { expect, test } from 'vitest';
import { createBackoff } from './backoff.ts';

test('a backoff doubles with jitter up to its maximum and resets after a quiet time', () => {
  let now = 0;
  let random = 0;
  const backoff = createBackoff({
    firstMs: 800,
    maxMs: 30_000,
    resetAfterMs: 120_000,
    now: () => now,
    random: () => random,
  });
  expect([1, 2, 3, 4, 5, 6, 7].map(() => backoff.next())).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000]);
  random = 1;
  expect(backoff.next()).toBe(30_000);
  now += 119_999;
  expect(backoff.next()).toBe(30_000);
  now += 120_000;
  expect(backoff.next()).toBe(1_600);
  backoff.reset();
  expect(backoff.next()).toBe(1_600);
});
