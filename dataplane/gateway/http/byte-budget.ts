/** Bytes that one request has taken; disposing gives all of them back. */
type TakenBytes = Disposable & {
  /** Takes so many more; false, and nothing is taken, when the budget has too few left. */
  take(bytes: number): boolean;
};

/** Bounds the bytes that all requests of the process hold together. Received bytes count, announced ones do not. */
export type ByteBudget = { open(): TakenBytes };

export function createByteBudget(limit: number): ByteBudget {
  let taken = 0;
  return {
    open() {
      let held = 0;
      return {
        take(bytes) {
          if (taken + bytes > limit) return false;
          taken += bytes;
          held += bytes;
          return true;
        },
        [Symbol.dispose]() {
          taken -= held;
          held = 0;
        },
      };
    },
  };
}
