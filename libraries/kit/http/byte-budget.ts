/** Bytes that one request has reserved in the budget; disposing releases them. */
export type TakenBytes = Disposable & {
  /**
   * Counts the request for its caller, before it takes bytes. A part of the budget is reserved for the oldest of all
   * requests. The requests of one caller together reserve at most half of the other bytes; only the oldest request may
   * exceed this limit.
   */
  countFor(caller: string): void;
  /**
   * Counts the request for its caller, before it takes bytes. The requests of one caller together take no more than half of those bytes
   * if another caller asked for some within the last minute, and no more than an equal share while a request of another one waits.
   * Only the oldest of all requests may exceed it.
   */
  shareFor(caller: string): void;
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

/** How long a caller counts as one that needs bytes after it asked for some, milliseconds. */
const activeMs = 60_000;

/** `bound`: whether the requests of the caller have a fixed bound, or one that depends on others. */
type Holder = { held: number; caller: string | undefined; bound: 'fixed' | 'share' };
type Asked = { readonly caller: string; readonly at: number };
type Waiting = { readonly holder: Holder; readonly bytes: number; readonly settle: (taken: boolean) => void };

/**
 * Requests that hold a part of the bytes that they need could wait for one another indefinitely. So a share of the
 * budget is kept for the oldest request, which can therefore always finish; then the next request is the oldest
 * (docs/design/held-bytes.md).
 */
export function createByteBudget({ limit, largest, waitMs }: BudgetOptions): ByteBudget {
  const reserve = Math.min(largest, Math.floor(limit / 2));
  const unreserved = limit - reserve;
  const mostOfCaller = Math.floor(unreserved / 2);
  /** Those that may take bytes, in the order in which they began. */
  const holders = new Set<Holder>();
  const settled = new Set<Holder>();
  const waiting = new Set<Waiting>();
  /** The waiting requests of each caller, in the order in which they began to wait. */
  const waitingOf = new Map<string | undefined, Set<Waiting>>();
  /** The caller that shares bytes and asked for some last, and the last other one. */
  let newest: Asked | undefined;
  let newestOther: Asked | undefined;
  /** Bytes of the requests of each caller that has some. */
  const ofCallers = new Map<string, number>();
  let taken = 0;

  function fits(holder: Holder, bytes: number): boolean {
    const [oldest] = holders;
    if (oldest === undefined || oldest === holder) return taken + bytes <= limit;
    // The oldest request has no such bound: requests of one caller that each hold a part would wait for one another.
    if (exceedsBound(holder, bytes)) return false;
    return taken + bytes <= limit - Math.max(0, reserve - oldest.held);
  }

  function exceedsBound(holder: Holder, bytes: number): boolean {
    const { caller, bound } = holder;
    if (caller === undefined) return false;
    const held = (ofCallers.get(caller) ?? 0) + bytes;
    if (bound === 'share') return held > (shareOf(caller) ?? (isAlone(caller) ? limit : mostOfCaller));
    return held > mostOfCaller;
  }

  function isAlone(caller: string): boolean {
    const other = newest?.caller === caller ? newestOther : newest;
    return other === undefined || performance.now() - other.at >= activeMs;
  }

  function noteAsked({ caller, bound }: Holder): void {
    if (caller === undefined || bound === 'fixed') return;
    if (newest !== undefined && newest.caller !== caller) newestOther = newest;
    newest = { caller, at: performance.now() };
  }

  /** The share of a caller; undefined while no other caller waits for bytes that its own bound lets it have. */
  function shareOf(caller: string): number | undefined {
    const othersWait = waitingOf.size > (waitingOf.has(caller) ? 1 : 0);
    if (!othersWait) return undefined;
    const share = Math.floor(unreserved / (waitingOf.size + (waitingOf.has(caller) ? 0 : 1)));
    const [oldest] = holders;
    for (const [other, requests] of waitingOf) {
      if (other === caller) continue;
      const [first] = requests;
      if (first === undefined) continue;
      const { holder, bytes } = first;
      const most = other === undefined ? limit : holder.bound === 'fixed' ? mostOfCaller : share;
      const held = other === undefined ? 0 : (ofCallers.get(other) ?? 0);
      if (holder === oldest || held + bytes <= most) return share;
    }
    return undefined;
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

  /** A request that no longer waits can end the bound of others. */
  function wake(): void {
    let isChanged = true;
    while (isChanged) {
      isChanged = false;
      for (const one of waiting) {
        if (!fits(one.holder, one.bytes)) continue;
        reserveFor(one.holder, one.bytes);
        one.settle(true);
        isChanged = true;
      }
    }
  }

  function waitFor(holder: Holder, bytes: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => {
      one.settle(false);
      wake();
    }, waitMs);
    const ofCaller = waitingOf.get(holder.caller) ?? new Set();
    const one: Waiting = {
      holder,
      bytes,
      settle(isTaken) {
        clearTimeout(timer);
        waiting.delete(one);
        ofCaller.delete(one);
        if (ofCaller.size === 0 && waitingOf.get(holder.caller) === ofCaller) waitingOf.delete(holder.caller);
        resolve(isTaken);
      },
    };
    waiting.add(one);
    waitingOf.set(holder.caller, ofCaller.add(one));
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
      const holder: Holder = { held: 0, caller: undefined, bound: 'fixed' };
      holders.add(holder);
      const setCaller = (caller: string, bound: Holder['bound']): void => {
        if (holder.held > 0) throw new TypeError('the request has taken bytes without a caller');
        holder.caller = caller;
        holder.bound = bound;
      };
      return {
        countFor: (caller) => setCaller(caller, 'fixed'),
        shareFor: (caller) => setCaller(caller, 'share'),
        take(bytes) {
          if (!holders.has(holder)) return false;
          if (holder.held + bytes > limit) return false;
          noteAsked(holder);
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
