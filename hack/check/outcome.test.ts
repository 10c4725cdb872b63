import { expect, test } from 'vitest';
import { single, skipLines, summaryLine, sumOutcomes } from './outcome.ts';

test('check outcomes are summed into one line of counts and one line for each reason to skip', () => {
  const skipped = [
    { test: 'a', reason: 'Python 3 is not installed' },
    { test: 'b', reason: 'Python 3 is not installed' },
    { test: 'c', reason: 'Docker is not running' },
  ];
  const total = sumOutcomes([
    single(true),
    single(false),
    { passed: 40, failed: 0, skipped, proved: ['a:b:c', 'a:b:c'] },
  ]);
  expect(summaryLine(total)).toBe('41 passed, 1 failed, 3 skipped');
  expect(skipLines(total.skipped)).toEqual([
    'skipped 2: Python 3 is not installed',
    'skipped 1: Docker is not running',
  ]);
  expect(total.proved).toEqual(['a:b:c']);
});
