/** Bounds the bytes of bodies that are held at the same time. */
export type ByteBudget = {
  /** Takes that many bytes until disposed; undefined when they are not to be had. */
  tryTake(bytes: number): Disposable | undefined;
};

export function createByteBudget(limit: number): ByteBudget {
  let taken = 0;
  return {
    tryTake(bytes) {
      if (taken + bytes > limit) return undefined;
      taken += bytes;
      let held = bytes;
      return {
        [Symbol.dispose]() {
          taken -= held;
          held = 0;
        },
      };
    },
  };
}
