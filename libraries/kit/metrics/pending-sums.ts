export type PendingSums = {
  series(labels: Record<string, string>): { add(value?: number): void };
  /** Hands over what was added since the last time. */
  bring(): void;
};

/** Sums that are only handed over when somebody looks, so that adding to one is nothing but an addition. */
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
    bring() {
      for (const own of all) {
        if (own.sum === 0) continue;
        take(own.labels, own.sum);
        own.sum = 0;
      }
    },
  };
}
