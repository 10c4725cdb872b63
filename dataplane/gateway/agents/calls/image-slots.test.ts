import { expect, test } from 'vitest';
import { createImageSlots } from './image-slots.ts';

test('a version has at most as many runs as its limit, and each ended run frees a place', () => {
  const slots = createImageSlots();
  const first = slots.take('v1', 2);
  expect([first, slots.take('v1', 2)]).not.toContain(undefined);
  expect(slots.take('v1', 2)).toBeUndefined();
  expect(slots.take('v2', 1)).toBeDefined();
  first?.[Symbol.dispose]();
  first?.[Symbol.dispose]();
  const third = slots.take('v1', 2);
  expect(third).toBeDefined();
  expect(slots.take('v1', 2)).toBeUndefined();
});

test('a version without runs uses no memory', () => {
  const slots = createImageSlots();
  slots.take('v1', 1)?.[Symbol.dispose]();
  expect(slots.size).toBe(0);
});
