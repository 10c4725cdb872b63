export type Backoff = {
  /** The next wait in milliseconds; it grows with each call. */
  next(): number;
  /** Says that things have been well for a while: the next wait is the first one again. */
  reset(): void;
};

export type BackoffOptions = {
  readonly firstMs: number;
  readonly maxMs: number;
  /** After this long without a call of `next` the wait begins anew. */
  readonly resetAfterMs: number;
  readonly now: () => number;
  /** Between 0 and 1. */
  readonly random?: () => number;
};

/** Doubling waits with jitter: each between its step and twice its step, never above `maxMs`. */
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
