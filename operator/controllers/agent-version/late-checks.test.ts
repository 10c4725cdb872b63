import { expect, test } from 'vitest';
import { createLateChecks } from './late-checks.ts';

const minute = 60_000;

test('checks that exceed their timeout are repeated after a minute, then after pauses that double up to an hour', () => {
  let now = 1_000;
  const late = createLateChecks(() => now);
  const pauses = Array.from({ length: 9 }, () => {
    late.note('one');
    const pause = late.pauseOf('one');
    now += pause - 1;
    expect(late.pauseOf('one')).toBe(1);
    now += 1;
    expect(late.pauseOf('one')).toBe(0);
    return pause / minute;
  });
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  expect([late.has('one'), late.has('other')]).toEqual([true, false]);
  late.forget('one');
  expect([late.has('one'), late.pauseOf('one')]).toEqual([false, 0]);
  late.note('one');
  expect(late.pauseOf('one')).toBe(minute);
});

test('checks that were late are repeated one at a time, even after one that failed', async () => {
  const late = createLateChecks(() => 0);
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = late.repeat(() => promise);
  expect(late.repeat(async () => 'two')).toBeUndefined();
  resolve('one');
  expect(await first).toBe('one');
  await expect(
    late.repeat(async () => {
      throw new Error('failed');
    }),
  ).rejects.toThrow('failed');
  expect(await late.repeat(async () => 'three')).toBe('three');
});
