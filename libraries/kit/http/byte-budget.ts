/** Bytes that one request has reserved in the budget; disposing releases them. */
export type TakenBytes = Disposable & {
  /**
   * Counts the request for its caller, before it takes bytes. A part of the budget is reserved for the oldest of all
   * requests. The requests of one caller together reserve at most half of the other bytes; only the oldest request may
   * exceed this limit.
   */
  countFor(caller: string): void;
  /**
   * Reserves more bytes of the budget: immediately if they are free, otherwise when other requests release theirs.
   * @returns false, or a promise of false, if the bytes are not free in time or were already released; then nothing is
   * reserved
   */
  take(bytes: number): boolean | Promise<boolean>;
  /** Releases bytes that the request no longer holds. */
  release(bytes: number): void;
  /**
   * States that the request takes no more bytes: the bytes that it holds stay counted, and no more are reserved for it.
   */
  settle(): void;
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
  /** Maximum number of bytes that one request needs; the oldest request can always reserve this number. */
  readonly largest: number;
  /** How long a request waits for bytes, milliseconds. */
  readonly waitMs: number;
};

type Holder = { held: number; caller: string | undefined };
type Waiting = { readonly holder: Holder; readonly bytes: number; readonly settle: (taken: boolean) => void };

/**
 * Requests that hold a part of the bytes that they need could wait for one another indefinitely. So a share of the
 * budget is kept for the oldest request, which can therefore always finish; then the next request is the oldest
 * (docs/design/held-bytes.md).
 */
export function createByteBudget({ limit, largest, waitMs }: BudgetOptions): ByteBudget {
  const reserve = Math.min(largest, Math.floor(limit / 2));
  const mostOfCaller = Math.floor((limit - reserve) / 2);
  /** The requests that may take bytes, in the order in which they began. */
  const holders = new Set<Holder>();
  const settled = new Set<Holder>();
  const waiting = new Set<Waiting>();
  /** Bytes of the requests of each caller that has some. */
  const ofCallers = new Map<string, number>();
  let taken = 0;

  function fits(holder: Holder, bytes: number): boolean {
    const [oldest] = holders;
    if (oldest === undefined || oldest === holder) return taken + bytes <= limit;
    const { caller } = holder;
    // The oldest request has no such limit: requests of one caller that each hold a part would wait for one another.
    if (caller !== undefined && (ofCallers.get(caller) ?? 0) + bytes > mostOfCaller) return false;
    return taken + bytes <= limit - Math.max(0, reserve - oldest.held);
  }

  /** @param bytes negative to release */
  function reserveFor(holder: Holder, bytes: number): void {
    taken += bytes;
    holder.held += bytes;
    if (holder.caller === undefined) return;
    const held = (ofCallers.get(holder.caller) ?? 0) + bytes;
    if (held === 0) ofCallers.delete(holder.caller);
    else ofCallers.set(holder.caller, held);
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

  function endWaits(holder: Holder): void {
    for (const one of waiting) if (one.holder === holder) one.settle(false);
  }

  return {
    get taken() {
      return taken;
    },
    open() {
      const holder: Holder = { held: 0, caller: undefined };
      holders.add(holder);
      return {
        countFor(caller) {
          if (holder.held > 0) throw new TypeError('the request has taken bytes without a caller');
          holder.caller = caller;
        },
        take(bytes) {
          if (!holders.has(holder)) return false;
          if (holder.held + bytes > limit) return false;
          if (!fits(holder, bytes)) return waitFor(holder, bytes);
          reserveFor(holder, bytes);
          return true;
        },
        release(bytes) {
          reserveFor(holder, -Math.min(bytes, holder.held));
          wake();
        },
        settle() {
          if (!holders.delete(holder)) return;
          settled.add(holder);
          endWaits(holder);
          wake();
        },
        [Symbol.dispose]() {
          if (!holders.delete(holder) && !settled.delete(holder)) return;
          endWaits(holder);
          reserveFor(holder, -holder.held);
          wake();
        },
      };
    },
  };
}
