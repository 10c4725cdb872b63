import { expect, test } from 'vitest';
import { outOfRange, rangesOf, readRanges } from './ranges.ts';

test('a benchmark ratio may exceed its committed value by at most a fifth', () => {
  const ranges = rangesOf(new Map([['a', 10]]));
  expect(ranges).toEqual({ a: 12 });
  expect(outOfRange(new Map([['a', 12]]), ranges)).toEqual([]);
  expect(outOfRange(new Map([['a', 12.01]]), ranges)).toEqual(['a: 12.01 is over 12']);
  expect(outOfRange(new Map([['b', 1]]), ranges)).toHaveLength(1);
});

test('the committed ranges of the benchmark can be parsed', () => {
  expect(Object.keys(readRanges()).length).toBeGreaterThan(20);
});
