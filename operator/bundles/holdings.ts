/** Bundles that a sweep must keep although no object that it sees names them yet. */
type Holdings = {
  /** Prevents the removal of the bundle until the holding is disposed; a bundle may have several holdings. */
  hold(digest: string): Disposable;
  /** Starts a sweep: every bundle that is held now or later counts as held during the sweep. */
  beginSweep(): void;
  /**
   * Whether the bundle was held at any time since the sweep began: an object that the sweep did not see may need the
   * bundle.
   */
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
