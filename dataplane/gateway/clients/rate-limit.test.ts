import { expect, test } from 'vitest';
import { createRateLimit } from './rate-limit.ts';

test('a rate allows its number of requests in a burst, then one for each share of the period', () => {
  const limit = createRateLimit({ requests: 3, ms: 60_000 });
  expect([limit.take(0), limit.take(0), limit.take(0)]).toEqual([0, 0, 0]);
  expect(limit.take(0)).toBe(20_000);
  expect(limit.take(19_999)).toBe(1);
  expect(limit.take(20_000)).toBe(0);
  expect(limit.take(20_000)).toBe(20_000);
  expect([limit.take(500_000), limit.take(500_000), limit.take(500_000)]).toEqual([0, 0, 0]);
  expect(limit.take(500_000)).toBe(20_000);
});

test('a clock that runs backwards allows no further requests', () => {
  const limit = createRateLimit({ requests: 1, ms: 1_000 });
  expect(limit.take(10_000)).toBe(0);
  expect(limit.take(0)).toBe(1_000);
});
