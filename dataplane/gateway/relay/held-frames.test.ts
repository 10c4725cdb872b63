import { expect, test } from 'vitest';
import { createByteBudget } from '#kit/http/byte-budget';
import { freeHeldBytes, HeldFrames } from './held-frames.ts';

const step = 262_144;

test('the first MiB of a stream is free, and one byte more is taken from the budget in steps', () => {
  const budget = createByteBudget({ limit: 4 * step, largest: step, waitMs: 10 });
  const frames = new HeldFrames(budget.open());
  expect([frames.cover(freeHeldBytes), budget.taken]).toEqual([true, 0]);
  expect([frames.cover(freeHeldBytes + 1), budget.taken]).toEqual([true, step]);
  expect([frames.cover(freeHeldBytes + step), budget.taken]).toEqual([true, step]);
  expect([frames.cover(freeHeldBytes + step + 1), budget.taken]).toEqual([true, 2 * step]);
  expect([frames.cover(0), budget.taken]).toEqual([true, 0]);
});

test('a stream that needs more bytes than the budget has does not get them, and keeps the bytes that it holds', async () => {
  const budget = createByteBudget({ limit: 4 * step, largest: step, waitMs: 10 });
  const [oldest, other] = [new HeldFrames(budget.open()), new HeldFrames(budget.open())];
  expect(oldest.cover(freeHeldBytes + step)).toBe(true);
  expect(other.cover(freeHeldBytes + 2 * step)).toBe(true);
  expect(await other.cover(freeHeldBytes + 4 * step)).toBe(false);
  expect(budget.taken).toBe(3 * step);
  const waiting = other.cover(freeHeldBytes + 3 * step + 1);
  expect(oldest.cover(0)).toBe(true);
  expect(await waiting).toBe(false);
  expect(other.cover(freeHeldBytes)).toBe(true);
  expect(budget.taken).toBe(0);
});
