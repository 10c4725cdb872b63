/** Bundles that must not be swept away although nothing that a sweep sees names them yet. */
export type Holdings = {
  /** Holds the bundle until the holding is disposed; several may hold one. */
  hold(digest: string): Disposable;
  /** From now on everything that is held, now or later, counts as touched. */
  beginSweep(): void;
  /** Whether the bundle was held at any time since the sweep began: it may be needed by what the sweep did not see. */
  isTouched(digest: string): boolean;
};

export function createHoldings(): Holdings {
  const held = new Map<string, number>();
  let touched = new Set<string>();
  return {
    hold(digest) {
      held.set(digest, (held.get(digest) ?? 0) + 1);
      touched.add(digest);
      return {
        [Symbol.dispose]() {
          const count = (held.get(digest) ?? 1) - 1;
          if (count === 0) held.delete(digest);
          else held.set(digest, count);
        },
      };
    },
    beginSweep() {
      touched = new Set(held.keys());
    },
    isTouched: (digest) => touched.has(digest),
  };
}
