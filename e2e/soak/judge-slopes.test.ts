import { describe, expect, test } from 'vitest';
import { judgeSlopes, type Measure, type ProcessSample } from './judge-slopes.ts';

const level = { live: 40e6, resident: 120e6, descriptors: 40, sockets: 12, timers: 9, listeners: 8 };

/** One sample every 2 s; `change` modifies each measure of the sample. */
function looksOf(change: (at: number) => Partial<Record<Measure, number>>, count = 12): readonly ProcessSample[] {
  return Array.from({ length: count }, (_, index) => ({ at: index * 2, ...level, ...change(index * 2) }));
}

const failing = (looks: readonly ProcessSample[], allowed = {}): readonly string[] =>
  judgeSlopes(looks, allowed)
    .filter(({ holds }) => !holds)
    .map(({ measure }) => measure);

describe('judging a soak test', () => {
  test('a soak test passes when nothing grows and when temporary growth shrinks again', () => {
    expect(failing(looksOf(() => ({})))).toEqual([]);
    expect(failing(looksOf((at) => ({ live: 40e6 + (at % 4) * 1e6, sockets: 12 + (at % 4) })))).toEqual([]);
    expect(failing(looksOf((at) => ({ live: 60e6 - at * 1e6 })))).toEqual([]);
  });

  test('a soak test is not affected by a few outlying samples', () => {
    expect(failing(looksOf((at) => (at >= 18 && at < 22 ? { live: 90e6, sockets: 400 } : {})))).toEqual([]);
  });

  test.each<readonly [Measure, number]>([
    ['live', 40e6 * 0.06],
    ['resident', 120e6 * 0.12],
    ['descriptors', 3],
    ['sockets', 3],
    ['timers', 3],
  ])('a soak test fails when %s grows by more than its bound, and passes at the bound', (measure, bound) => {
    const seconds = 22;
    const growing = (by: number) => looksOf((at) => ({ [measure]: level[measure] + (by * at) / seconds }));
    const growth = judgeSlopes(growing(bound)).find((one) => one.measure === measure);
    expect(growth?.grown).toBeCloseTo(bound, 0);
    expect(failing(growing(bound * 0.99))).toEqual([]);
    expect(failing(growing(bound * 1.1))).toEqual([measure]);
  });

  test('a soak test fails when one listener is leaked', () => {
    expect(failing(looksOf((at) => ({ listeners: 8 + Math.floor(at / 10) })))).toEqual(['listeners']);
  });

  test('a soak test permits a process its intended growth and no more', () => {
    const looks = looksOf((at) => ({ live: 40e6 + at * 400_000 }));
    expect(failing(looks, { live: 8e6 })).toEqual([]);
    expect(failing(looks, { live: 4e6 })).toEqual(['live']);
  });

  test('a soak test with too few samples is refused', () => {
    expect(() => judgeSlopes(looksOf(() => ({}), 4))).toThrow(RangeError);
    expect(judgeSlopes(looksOf(() => ({}), 5))).toHaveLength(6);
  });
});
