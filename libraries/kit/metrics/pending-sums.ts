type PendingSums = {
  series(labels: Record<string, string>): { add(value?: number): void };
  /** Passes the sums since the last flush to `take`. */
  flush(): void;
};

/** Sums that are passed on at a flush only, so that an increment costs one addition. */
export function createPendingSums(take: (labels: Record<string, string>, sum: number) => void): PendingSums {
  const all: { readonly labels: Record<string, string>; sum: number }[] = [];
  return {
    series(labels) {
      const own = { labels, sum: 0 };
      all.push(own);
      return {
        add(value = 1) {
          own.sum += value;
        },
      };
    },
    flush() {
      for (const own of all) {
        if (own.sum === 0) continue;
        take(own.labels, own.sum);
        own.sum = 0;
      }
    },
  };
}
