/** Bytes that one holder has taken; disposing gives all of them back. */
export type TakenBytes = Disposable & {
  /** Takes so many more; false, and nothing is taken, when they are not to be had. */
  take(bytes: number): boolean;
};

/** Bounds the bytes of bodies that are held at the same time. Only bytes that are there count, not announced ones. */
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
