import { expect, test } from 'vitest';
import { bytesPerValue } from '../chat/text-bounds.ts';
import { HeldTree } from './held-tree.ts';

/** A budget whose bytes are free immediately, or when the test releases them. */
function budgetOf(limit: number) {
  const waiting = Promise.withResolvers<boolean>();
  let taken = 0;
  return {
    taken: () => taken,
    free: waiting.resolve,
    take(bytes: number): boolean | Promise<boolean> {
      if (taken + bytes <= limit) {
        taken += bytes;
        return true;
      }
      return waiting.promise.then((isFree) => {
        if (isFree) taken += bytes;
        return isFree;
      });
    },
    release(bytes: number): void {
      taken -= bytes;
    },
  };
}

test('the memory of each value is reserved until the tree is disposed of, and no memory is reserved for a result without values', async () => {
  const budget = budgetOf(10 * bytesPerValue);
  {
    using tree = new HeldTree(budget);
    expect(
      await tree.read(
        () => 'a',
        () => 3,
      ),
    ).toEqual({ value: 'a' });
    expect(
      await tree.read(
        () => 'b',
        () => 7,
      ),
    ).toEqual({ value: 'b' });
    expect(
      await tree.read(
        () => 'c',
        () => 0,
      ),
    ).toEqual({ value: 'c' });
    expect(budget.taken()).toBe(10 * bytesPerValue);
  }
  expect(budget.taken()).toBe(0);
});

test('a result that had to wait for memory is read again, and there is no result if the memory is not free in time', async () => {
  for (const isFree of [true, false]) {
    const budget = budgetOf(0);
    using tree = new HeldTree(budget);
    let reads = 0;
    const read = tree.read(
      () => ++reads,
      () => 5,
    );
    budget.free(isFree);
    expect(await read).toEqual(isFree ? { value: 2 } : undefined);
    expect(reads).toBe(isFree ? 2 : 1);
    expect(budget.taken()).toBe(isFree ? 5 * bytesPerValue : 0);
  }
});
