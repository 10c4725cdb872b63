import type { StoredObject } from './stored-object.ts';

/** One change of one object, kept so that a watch can resume. */
export type Change = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The object after the change; for a deleted object the last state, at the version of the deletion. */
  readonly object: StoredObject;
  /** The object before the change; absent if the change added it. */
  readonly previous: StoredObject | undefined;
};

type HistoryLimits = { readonly maxChanges: number; readonly maxBytes: number };

/** The newest changes of all kinds in order, bounded in number and size. */
export type History = {
  push(change: Change): void;
  /** The oldest version from which a watch can resume. */
  readonly base: number;
  /** The first change after a version that is not below the base; undefined if no change follows. */
  after(version: number): Change | undefined;
};

/** Creates an empty history that begins after the version `base`. */
export function createHistory(base: number, limits: HistoryLimits): History {
  /** Changes before `first` are removed; the array is compacted once half of it is empty. */
  let changes: (Change | undefined)[] = [];
  let first = 0;
  let bytes = 0;
  let floor = base;

  function forget(): void {
    const oldest = changes[first];
    if (oldest === undefined) return;
    changes[first] = undefined;
    first += 1;
    bytes -= oldest.object.bytes.length;
    floor = oldest.object.version;
  }

  return {
    push(change) {
      changes.push(change);
      bytes += change.object.bytes.length;
      while (changes.length - first > limits.maxChanges || (bytes > limits.maxBytes && changes.length - first > 1)) {
        forget();
      }
      if (first * 2 > changes.length) {
        changes = changes.slice(first);
        first = 0;
      }
    },
    get base() {
      return floor;
    },
    after(version) {
      let low = first;
      let high = changes.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((changes[middle]?.object.version ?? 0) > version) high = middle;
        else low = middle + 1;
      }
      return changes[low];
    },
  };
}
