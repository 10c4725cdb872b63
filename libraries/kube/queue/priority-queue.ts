/** `high`: an edit that a user waits for. `low`: the first list and the resync. */
export type Priority = 'high' | 'normal' | 'low';

const order: readonly Priority[] = ['high', 'normal', 'low'];
const aboveLow = order.filter((priority) => priority !== 'low');
/** Every eighth key is taken from the lowest priority that has a key, so that no priority starves. */
const fairEvery = 8;

export type PrioritizedKey = { readonly key: string; readonly priority: Priority };

type PriorityQueue = {
  /** Adds a key or raises its priority; a key is queued once, and its priority is never lowered. */
  put(key: string, priority: Priority): void;
  /**
   * Takes the next key: the highest priority first, and within a priority the oldest key. Without `low`, low-priority
   * keys stay queued.
   */
  take(options: { readonly low: boolean }): PrioritizedKey | undefined;
  has(priority: Priority): boolean;
  clear(): void;
  readonly size: number;
};

/** The higher of two priorities. */
export function higherPriority(a: Priority | undefined, b: Priority): Priority {
  return a !== undefined && order.indexOf(a) <= order.indexOf(b) ? a : b;
}

/** Keys in three first-in-first-out queues, one queue for each priority. */
export function createPriorityQueue(): PriorityQueue {
  const keys: Readonly<Record<Priority, Set<string>>> = { high: new Set(), normal: new Set(), low: new Set() };
  let taken = 0;

  return {
    put(key, priority) {
      const queued = order.find((one) => keys[one].has(key));
      if (queued !== undefined && higherPriority(queued, priority) === queued) return;
      if (queued !== undefined) keys[queued].delete(key);
      keys[priority].add(key);
    },
    take({ low }) {
      taken += 1;
      const open = low ? order : aboveLow;
      for (const priority of taken % fairEvery === 0 ? open.toReversed() : open) {
        for (const key of keys[priority]) {
          keys[priority].delete(key);
          return { key, priority };
        }
      }
      return undefined;
    },
    has: (priority) => keys[priority].size > 0,
    clear() {
      for (const priority of order) keys[priority].clear();
    },
    get size() {
      return keys.high.size + keys.normal.size + keys.low.size;
    },
  };
}
