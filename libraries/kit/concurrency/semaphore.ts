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
  /**
   * Waits for a slot, in first-in-first-out order, after `tryAcquire` has found none. For calls that have their own
   * deadline: a signal for each wait costs more than a check.
   * @returns a function that ends the wait
   */
  enqueue(granted: (release: Release) => void): () => void;
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
      const leave = enqueue((release) => {
        signal.removeEventListener('abort', onAbort);
        resolve(release);
      });
      function onAbort(): void {
        leave();
        reject(signal.reason);
      }
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  function enqueue(granted: (release: Release) => void): () => void {
    const entry = (release: Release): void => granted(release);
    waiting.add(entry);
    return () => void waiting.delete(entry);
  }

  return {
    tryAcquire,
    acquire,
    enqueue,
    get inUse() {
      return inUse;
    },
  };
}
