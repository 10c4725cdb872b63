/** Bytes that one request has reserved in the budget; disposing releases them. */
type TakenBytes = Disposable & {
  /** Reserves more bytes of the budget. Returns false and reserves nothing when too few are left. */
  take(bytes: number): boolean;
};

/**
 * Bounds the bytes that all requests of the process hold together. Only received bytes count, not those that
 * content-length announces.
 */
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
