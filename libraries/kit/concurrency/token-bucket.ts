export type TokenBuckets = {
  /** Whether one more is allowed for this key now; takes a token if so. */
  take(key: string): boolean;
};

export type BucketOptions = {
  readonly burst: number;
  /** Milliseconds until one token comes back. */
  readonly refillMs: number;
  /** Keys that are remembered; the one that was used longest ago goes first, and starts anew with a full bucket. */
  readonly maxKeys: number;
  readonly now: () => number;
};

/** A token bucket for each key, of bounded number. */
export function createTokenBuckets({ burst, refillMs, maxKeys, now }: BucketOptions): TokenBuckets {
  const buckets = new Map<string, { readonly tokens: number; readonly at: number }>();
  return {
    take(key) {
      const at = now();
      const held = buckets.get(key) ?? { tokens: burst, at };
      const tokens = Math.min(burst, held.tokens + (at - held.at) / refillMs);
      buckets.delete(key);
      buckets.set(key, { tokens: tokens < 1 ? tokens : tokens - 1, at });
      const [oldest] = buckets.keys();
      if (buckets.size > maxKeys && oldest !== undefined) buckets.delete(oldest);
      return tokens >= 1;
    },
  };
}
