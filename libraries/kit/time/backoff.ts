export type Backoff = {
  /** The next backoff in milliseconds; it grows with each call. */
  next(): number;
  /** Starts again with the first backoff. */
  reset(): void;
};

type BackoffOptions = {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Time without a call of `next` after which the backoff is reset. */
  readonly resetAfterMs: number;
  readonly now: () => number;
  /** Returns a number from 0 to 1, for the jitter. */
  readonly random?: () => number;
};

/** Exponential backoff with jitter: each pause is between one and two times its step, at most `maxMs`. */
export function createBackoff(options: BackoffOptions): Backoff {
  const random = options.random ?? Math.random;
  let step = options.firstMs;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    next() {
      const now = options.now();
      if (now - lastAt >= options.resetAfterMs) step = options.firstMs;
      lastAt = now;
      const wait = Math.min(options.maxMs, step * (1 + random()));
      step = Math.min(options.maxMs, step * 2);
      return wait;
    },
    reset() {
      step = options.firstMs;
    },
  };
}
