import type { Clock } from '../time/clock.ts';

export type FakeClock = Clock & {
  /** Advances both the monotonic time and the time of day. */
  advance(ms: number): void;
};

/** A clock that advances only by `advance`. */
export function createFakeClock(start = new Date('2026-01-01T00:00:00.000Z')): FakeClock {
  let elapsed = 0;
  return {
    now: () => elapsed,
    date: () => new Date(start.getTime() + elapsed),
    advance(ms) {
      elapsed += ms;
    },
  };
}
