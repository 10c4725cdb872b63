/** `high`: an edit that somebody waits for. `low`: the first list and repairs. */
export type Priority = 'high' | 'normal' | 'low';

const order: readonly Priority[] = ['high', 'normal', 'low'];
const aboveLow = order.filter((priority) => priority !== 'low');
/** Every so many keys the lowest lane with a key comes first, so that none waits for ever. */
const fairEvery = 8;

export type Taken = { readonly key: string; readonly priority: Priority };

export type Lanes = {
  /** Files a key, or moves it up; it is in one lane at a time and never moves down. */
  put(key: string, priority: Priority): void;
  /** The next key: of the highest lane, first in, first out; of those above the lowest one alone where that is asked. */
  take(options: { readonly low: boolean }): Taken | undefined;
  has(priority: Priority): boolean;
  higher(a: Priority | undefined, b: Priority): Priority;
  clear(): void;
  readonly size: number;
};

/** Keys in three lanes. */
export function createLanes(): Lanes {
  const lanes: Readonly<Record<Priority, Set<string>>> = { high: new Set(), normal: new Set(), low: new Set() };
  let taken = 0;

  function higher(a: Priority | undefined, b: Priority): Priority {
    return a !== undefined && order.indexOf(a) <= order.indexOf(b) ? a : b;
  }

  function laneOf(key: string): Priority | undefined {
    return order.find((priority) => lanes[priority].has(key));
  }

  function takeOf(search: readonly Priority[]): Taken | undefined {
    for (const priority of search) {
      for (const key of lanes[priority]) {
        lanes[priority].delete(key);
        return { key, priority };
      }
    }
    return undefined;
  }

  return {
    put(key, priority) {
      const held = laneOf(key);
      if (held !== undefined && higher(held, priority) === held) return;
      if (held !== undefined) lanes[held].delete(key);
      lanes[priority].add(key);
    },
    take({ low }) {
      taken += 1;
      const open = low ? order : aboveLow;
      return takeOf(taken % fairEvery === 0 ? open.toReversed() : open);
    },
    has: (priority) => lanes[priority].size > 0,
    higher,
    clear() {
      for (const priority of order) lanes[priority].clear();
    },
    get size() {
      return lanes.high.size + lanes.normal.size + lanes.low.size;
    },
  };
}
