import { expect, test } from 'vitest';
import { createByteBudget } from './byte-budget.ts';

test('as many bytes may be taken as there are, and come back once', () => {
  const budget = createByteBudget(100);
  const first = budget.tryTake(60);
  expect(budget.tryTake(41)).toBeUndefined();
  const second = budget.tryTake(40);
  expect(second).toBeDefined();
  expect(budget.tryTake(1)).toBeUndefined();
  first?.[Symbol.dispose]();
  first?.[Symbol.dispose]();
  expect(budget.tryTake(61)).toBeUndefined();
  expect(budget.tryTake(60)).toBeDefined();
});
