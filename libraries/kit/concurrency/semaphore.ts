export type Release = () => void;

export type Semaphore = {
  /**
   * Acquires a slot if a slot is free, else returns undefined. Only the first call of the returned function releases
   * the slot.
   */
  tryAcquire(): Release | undefined;
  /**
   * Waits for a slot, in first-in-first-out order.
   * @throws the reason of the signal when it is aborted before a slot is free
   */
  acquire(signal: AbortSignal): Promise<Release>;
  readonly inUse: number;
};

/** A counting semaphore with `limit` slots. */
export function createSemaphore(limit: number): Semaphore {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError(`a semaphore needs at least one slot: ${limit}`);
  const waiting = new Set<(release: Release) => void>();
  let inUse = 0;

  function take(): Release {
    inUse++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      inUse--;
      const [next] = waiting;
      if (next === undefined) return;
      waiting.delete(next);
      next(take());
    };
  }

  function tryAcquire(): Release | undefined {
    return inUse < limit ? take() : undefined;
  }

  function acquire(signal: AbortSignal): Promise<Release> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const free = tryAcquire();
      if (free !== undefined) return resolve(free);
      function onAbort(): void {
        waiting.delete(granted);
        reject(signal.reason);
      }
      function granted(release: Release): void {
        signal.removeEventListener('abort', onAbort);
        resolve(release);
      }
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.add(granted);
    });
  }

  return {
    tryAcquire,
    acquire,
    get inUse() {
      return inUse;
    },
  };
}
