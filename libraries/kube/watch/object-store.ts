import type { Stored } from '#resources/metadata';
import type { KubeObject } from '../client/kube-object.ts';

/** The keys under which an index lists an object. */
export type IndexFunction<R extends KubeObject> = (object: Stored<R>) => readonly string[];

export type StoreView<R extends KubeObject> = {
  get(name: string): Stored<R> | undefined;
  /** All objects, in no particular order. */
  list(): readonly Stored<R>[];
  /** The objects that an index lists under a key. @throws TypeError for an index that was not declared */
  by(index: string, key: string): readonly Stored<R>[];
  readonly size: number;
};

type ObjectStore<R extends KubeObject> = StoreView<R> & {
  set(object: Stored<R>): void;
  remove(name: string): void;
};

/** Objects by name, with indexes that are updated with every change. */
export function createObjectStore<R extends KubeObject>(
  indexes: Readonly<Record<string, IndexFunction<R>>>,
): ObjectStore<R> {
  const objects = new Map<string, Stored<R>>();
  const namesByIndex = new Map(Object.keys(indexes).map((name) => [name, new Map<string, Set<string>>()]));

  function removeFromIndexes(object: Stored<R>): void {
    for (const [index, keys] of namesByIndex) {
      for (const key of indexes[index]?.(object) ?? []) {
        const names = keys.get(key);
        names?.delete(object.metadata.name);
        if (names?.size === 0) keys.delete(key);
      }
    }
  }

  function addToIndexes(object: Stored<R>): void {
    for (const [index, keys] of namesByIndex) {
      for (const key of indexes[index]?.(object) ?? []) {
        const names = keys.get(key);
        if (names === undefined) keys.set(key, new Set([object.metadata.name]));
        else names.add(object.metadata.name);
      }
    }
  }

  function remove(name: string): void {
    const object = objects.get(name);
    if (object === undefined) return;
    removeFromIndexes(object);
    objects.delete(name);
  }

  return {
    get: (name) => objects.get(name),
    list: () => [...objects.values()],
    by(index, key) {
      const keys = namesByIndex.get(index);
      if (keys === undefined) throw new TypeError(`the store has no index ${index}`);
      return [...(keys.get(key) ?? [])].flatMap((name) => objects.get(name) ?? []);
    },
    get size() {
      return objects.size;
    },
    set(object) {
      remove(object.metadata.name);
      objects.set(object.metadata.name, object);
      addToIndexes(object);
    },
    remove,
  };
}
