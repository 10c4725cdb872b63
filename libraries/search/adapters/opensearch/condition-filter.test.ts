import { expect, test } from 'vitest';
import { valuesClauses } from './condition-filter.ts';

test('as many values as one clause may have are one clause, and one more value begins another clause', () => {
  expect(valuesClauses('id', ['a', 'b', 'c'], 3)).toEqual([{ terms: { id: ['a', 'b', 'c'] } }]);
  expect(valuesClauses('id', ['a', 'b', 'c', 'd'], 3)).toEqual([
    { terms: { id: ['a', 'b', 'c'] } },
    { terms: { id: ['d'] } },
  ]);
  expect(valuesClauses('id', [], 3)).toEqual([]);
});
