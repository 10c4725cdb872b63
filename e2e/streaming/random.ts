/** Random choices that are determined by a seed. */
export type Random = {
  /** A whole number from 0 to `below` - 1. */
  below(below: number): number;
  /** A whole number between two bounds, which are both possible. */
  between(lowest: number, highest: number): number;
  pick<T>(items: readonly T[]): T;
  /** True with a probability of `percent`. */
  chance(percent: number): boolean;
};

/** Mulberry32: 32 bits of state, sufficient to distribute test cases. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    below,
    between: (lowest, highest) => lowest + below(highest - lowest + 1),
    pick<T>(items: readonly T[]): T {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError('nothing to pick from');
      return item;
    },
    chance: (percent) => below(100) < percent,
  };
}
