import { expect, test } from 'vitest';
import { createByteBudget } from './byte-budget.ts';

test('a byte budget can be used to its last byte, and disposing a reservation returns its bytes once', () => {
  const budget = createByteBudget(100);
  const first = budget.open();
  const second = budget.open();
  expect(first.take(60)).toBe(true);
  expect(second.take(41)).toBe(false);
  expect(second.take(40)).toBe(true);
  expect(second.take(1)).toBe(false);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(second.take(61)).toBe(false);
  expect(second.take(60)).toBe(true);
});

test('a request that reserved no bytes does not reduce the byte budget', () => {
  const budget = createByteBudget(10);
  const idle = Array.from({ length: 100 }, () => budget.open());
  expect(budget.open().take(10)).toBe(true);
  for (const one of idle) expect(one.take(1)).toBe(false);
});
