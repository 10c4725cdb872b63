/** Bytes that one request has reserved in the budget; disposing releases them. */
export type TakenBytes = Disposable & {
  /**
   * Reserves more bytes of the budget: at once where they are free, otherwise when other requests release theirs.
   * @returns false, or a promise of it, when they are not free in time or the bytes were released; then nothing is reserved
   */
  take(bytes: number): boolean | Promise<boolean>;
  /** Releases bytes that the request no longer holds. */
  release(bytes: number): void;
};

/**
 * Bounds the bytes of requests and whole answers that all requests of the process hold together. Only received bytes
 * count, not those that content-length announces.
 */
export type ByteBudget = {
  open(): TakenBytes;
  /** Bytes that are reserved now. */
  readonly taken: number;
};

type BudgetOptions = {
  /** Bytes of all requests together. */
  readonly limit: number;
  /** The most bytes that one request needs; the oldest request can always reserve as many. */
  readonly largest: number;
  /** How long a request waits for bytes, milliseconds. */
  readonly waitMs: number;
};

type Holder = { held: number };
type Waiting = { readonly holder: Holder; readonly bytes: number; readonly settle: (taken: boolean) => void };

/**
 * Requests that hold a part of what they need could wait for one another for ever. So a share of the budget is kept for the
 * oldest request: it can always finish, and then the next one is the oldest (docs/design/held-bytes.md).
 */
export function createByteBudget({ limit, largest, waitMs }: BudgetOptions): ByteBudget {
  const reserve = Math.min(largest, Math.floor(limit / 2));
  /** In the order in which they began. */
  const holders = new Set<Holder>();
  const waiting = new Set<Waiting>();
  let taken = 0;

  function fits(holder: Holder, bytes: number): boolean {
    const [oldest] = holders;
    const kept = oldest === undefined || oldest === holder ? 0 : Math.max(0, reserve - oldest.held);
    return taken + bytes <= limit - kept;
  }

  function reserveFor(holder: Holder, bytes: number): void {
    taken += bytes;
    holder.held += bytes;
  }

  function wake(): void {
    for (const one of waiting) {
      if (!fits(one.holder, one.bytes)) continue;
      reserveFor(one.holder, one.bytes);
      one.settle(true);
    }
  }

  function waitFor(holder: Holder, bytes: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => one.settle(false), waitMs);
    const one: Waiting = {
      holder,
      bytes,
      settle(isTaken) {
        clearTimeout(timer);
        waiting.delete(one);
        resolve(isTaken);
      },
    };
    waiting.add(one);
    return promise;
  }

  return {
    get taken() {
      return taken;
    },
    open() {
      const holder: Holder = { held: 0 };
      holders.add(holder);
      return {
        take(bytes) {
          if (!holders.has(holder)) return false;
          if (holder.held + bytes > limit) return false;
          if (!fits(holder, bytes)) return waitFor(holder, bytes);
          reserveFor(holder, bytes);
          return true;
        },
        release(bytes) {
          const released = Math.min(bytes, holder.held);
          taken -= released;
          holder.held -= released;
          wake();
        },
        [Symbol.dispose]() {
          if (!holders.delete(holder)) return;
          for (const one of waiting) if (one.holder === holder) one.settle(false);
          taken -= holder.held;
          holder.held = 0;
          wake();
        },
      };
    },
  };
}
