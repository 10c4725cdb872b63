import { expect, test } from 'vitest';
import { createTokenBuckets } from './token-bucket.ts';

function open(maxKeys = 10) {
  const clock = { now: 0 };
  const buckets = createTokenBuckets({ burst: 3, refillMs: 100, maxKeys, now: () => clock.now });
  const taken = (key: string, times: number): number =>
    Array.from({ length: times }, () => buckets.take(key)).filter(Boolean).length;
  return { clock, taken };
}

test('a token bucket allows its burst and then one token per refill', () => {
  const { clock, taken } = open();
  expect(taken('a', 5)).toBe(3);
  clock.now = 99;
  expect(taken('a', 1)).toBe(0);
  clock.now = 100;
  expect(taken('a', 2)).toBe(1);
  clock.now = 1_000_000;
  expect(taken('a', 5)).toBe(3);
});

test('each key has its own bucket, and the least recently used bucket is evicted', () => {
  const { taken } = open(2);
  expect([taken('a', 5), taken('b', 5)]).toEqual([3, 3]);
  expect([taken('a', 1), taken('b', 1)]).toEqual([0, 0]);
  taken('c', 1);
  expect(taken('b', 1)).toBe(0);
  expect(taken('a', 1)).toBe(1);
});

test('a token bucket grants all requested tokens or none', () => {
  const buckets = createTokenBuckets({ burst: 3, refillMs: 100, maxKeys: 10, now: () => 0 });
  expect([buckets.take('a', 2), buckets.take('a', 2), buckets.take('a'), buckets.take('a')]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});
