type TokenBuckets = {
  /** Takes tokens of this key, one by default; if there are fewer, takes none and returns false. */
  take(key: string, cost?: number): boolean;
};

type BucketOptions = {
  readonly burst: number;
  /** Milliseconds in which one token is refilled. */
  readonly refillMs: number;
  /**
   * Maximum number of keys in memory; the least recently used is evicted and has a full bucket when it is used again.
   */
  readonly maxKeys: number;
  readonly now: () => number;
};

/** A token bucket for each key, with a bounded number of keys. */
export function createTokenBuckets({ burst, refillMs, maxKeys, now }: BucketOptions): TokenBuckets {
  const buckets = new Map<string, { readonly tokens: number; readonly at: number }>();
  return {
    take(key, cost = 1) {
      const at = now();
      const held = buckets.get(key) ?? { tokens: burst, at };
      const tokens = Math.min(burst, held.tokens + (at - held.at) / refillMs);
      buckets.delete(key);
      buckets.set(key, { tokens: tokens < cost ? tokens : tokens - cost, at });
      const [oldest] = buckets.keys();
      if (buckets.size > maxKeys && oldest !== undefined) buckets.delete(oldest);
      return tokens >= cost;
    },
  };
}
