import { FileWriteError } from '#kit/files/write-atomic';
import type { Kind } from '#resources/kinds';
import { kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { ApiRefusal } from './api-refusal.ts';
import type { WriteDecision } from './decide-create.ts';
import { type Change, createHistory, type History } from './history.ts';
import type { ObjectFiles } from './object-files.ts';
import { encodeStoredObject, type StoredObject } from './stored-object.ts';

/** Version of an empty store; above 1, so that a client can name a version that is certainly too old. */
const firstVersion = 1_000;
/** Number of versions that are reserved at a time, so that not every write has to record its version. */
const reservation = 1_000;
/** Largest stored object; the limit of etcd, so that every object also fits into a cluster. */
const maxObjectBytes = 1_572_864;
/** Maximum number of queued writes; further writers are asked to retry. */
const maxWaiting = 1_024;
const historyLimits = { maxChanges: 10_000, maxBytes: 67_108_864 };

/**
 * All objects in memory; every change is on disk before it is visible. Writes are sequential: each gets the next
 * version,
 * and `version()` is the newest visible one.
 */
export type ResourceStore = {
  get(kind: Kind, name: string): StoredObject | undefined;
  /** All objects of a kind, ordered by name. */
  list(kind: Kind): readonly StoredObject[];
  /** All objects of all kinds. */
  all(): readonly StoredObject[];
  /** Whether an object with this UID exists. */
  hasUid(uid: string): boolean;
  /** The objects whose ownerReferences contain this UID. */
  dependentsOf(uid: string): readonly StoredObject[];
  version(): number;
  readonly history: History;
  /** Calls `decide` with the newest state and executes its result. @throws ApiRefusal without a change */
  change(
    kind: Kind,
    name: string,
    decide: (current: StoredObject | undefined) => WriteDecision,
    mode?: WriteMode,
  ): Promise<Written>;
  /** Calls back after every change. @returns a function that stops it */
  subscribe(listener: (change: Change) => void): () => void;
  /** Waits for writes in flight. */
  settle(): Promise<void>;
};

/** With `dry` a write is checked completely but not stored, and uses no version. */
export type WriteMode = 'stored' | 'dry';

type Written = { readonly object: StoredObject; readonly act: WriteDecision['act'] };

/** Loads the folder. New versions are above every version that was assigned before. */
export function openResourceStore(files: ObjectFiles, onBroken: (error: unknown) => void): ResourceStore {
  const { objects, reservedThrough } = files.load();
  const tables = new Map(Object.values(kinds).map((kind) => [kind.plural as string, new Map<string, StoredObject>()]));
  const sorted = new Map<string, readonly StoredObject[]>();
  const uids = new Set<string>();
  const dependents = new Map<string, Map<string, StoredObject>>();
  const listeners = new Set<(change: Change) => void>();
  let reserved = reservedThrough;
  let current = objects.reduce(
    (highest, object) => Math.max(highest, object.version),
    Math.max(firstVersion, reservedThrough),
  );
  let next = current;
  let lane: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let broken = false;
  for (const object of objects) show(object, undefined);
  const history = createHistory(current, historyLimits);

  function tableOf(kind: Kind): Map<string, StoredObject> {
    const table = tables.get(kind.plural);
    if (table === undefined) throw new TypeError(`there is no table of ${kind.kind}`);
    return table;
  }

  /** Makes a change visible in every table immediately. */
  function show(object: StoredObject | undefined, previous: StoredObject | undefined): void {
    const subject = object ?? previous;
    if (subject === undefined) return;
    const key = `${subject.kind.plural}/${subject.name}`;
    sorted.delete(subject.kind.plural);
    for (const owner of previous?.metadata.ownerReferences ?? []) {
      dependents.get(owner.uid)?.delete(key);
      if (dependents.get(owner.uid)?.size === 0) dependents.delete(owner.uid);
    }
    if (previous !== undefined) uids.delete(previous.metadata.uid);
    if (object === undefined) {
      tableOf(subject.kind).delete(subject.name);
      return;
    }
    tableOf(subject.kind).set(subject.name, object);
    uids.add(object.metadata.uid);
    for (const owner of object.metadata.ownerReferences ?? []) {
      const owned = dependents.get(owner.uid) ?? new Map<string, StoredObject>();
      dependents.set(owner.uid, owned.set(key, object));
    }
  }

  async function write(
    kind: Kind,
    name: string,
    decide: (current: StoredObject | undefined) => WriteDecision,
    mode: WriteMode,
  ) {
    const previous = tableOf(kind).get(name);
    const decision = decide(previous);
    if (decision.act === 'keep') return { object: kept(previous), act: decision.act };
    if (broken) throw new ApiRefusal('InternalError', 'the store failed before: it accepts no writes until a restart');
    if (mode === 'dry') return { object: withVersion(kind, decision.object, current), act: decision.act };
    const object = await giveVersion(kind, decision.object);
    await onDisk(decision.act, object);
    const gone = decision.act === 'remove';
    show(gone ? undefined : object, previous);
    current = object.version;
    const change: Change = { type: gone ? 'DELETED' : previous ? 'MODIFIED' : 'ADDED', object, previous };
    history.push(change);
    for (const listener of listeners) listener(change);
    return { object, act: decision.act };
  }

  async function giveVersion(kind: Kind, object: Stored<Resource>): Promise<StoredObject> {
    if (next + 1 > reserved) {
      await guarded(() => files.reserve(next + reservation));
      reserved = next + reservation;
    }
    next += 1;
    return withVersion(kind, object, next);
  }

  function withVersion(kind: Kind, object: Stored<Resource>, version: number): StoredObject {
    const encoded = encodeStoredObject(kind, {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(version) },
    });
    if (encoded.bytes.length <= maxObjectBytes) return encoded;
    throw new ApiRefusal('RequestEntityTooLarge', `an object is at most ${maxObjectBytes} bytes of JSON`, {
      kind,
      name: encoded.name,
    });
  }

  function onDisk(act: 'put' | 'remove', object: StoredObject): Promise<void> {
    return guarded(() => (act === 'put' ? files.write(object) : files.remove(object)));
  }

  /** A write that certainly failed is refused. After a write with an unknown outcome the store refuses all writes. */
  async function guarded(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (error instanceof FileWriteError && error.code === 'disk_full') throw storageFull();
      if (error instanceof FileWriteError && error.code === 'denied') {
        throw new ApiRefusal('InternalError', 'the store may not write into its folder');
      }
      broken = true;
      onBroken(error);
      throw new ApiRefusal('InternalError', 'the store failed to write: it accepts no writes until a restart');
    }
  }

  return {
    get: (kind, name) => tableOf(kind).get(name),
    list(kind) {
      const known = sorted.get(kind.plural);
      if (known !== undefined) return known;
      const list = [...tableOf(kind).values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      sorted.set(kind.plural, list);
      return list;
    },
    all: () => [...tables.values()].flatMap((table) => [...table.values()]),
    hasUid: (uid) => uids.has(uid),
    dependentsOf: (uid) => [...(dependents.get(uid)?.values() ?? [])],
    version: () => current,
    history,
    change(kind, name, decide, mode = 'stored') {
      if (waiting >= maxWaiting) {
        return Promise.reject(
          new ApiRefusal('TooManyRequests', 'too many writes are queued', { retryAfterSeconds: 1 }),
        );
      }
      waiting += 1;
      const result = lane.then(() => write(kind, name, decide, mode));
      lane = result.then(ignore, ignore).then(() => {
        waiting -= 1;
      });
      return result;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async settle() {
      await lane;
    },
  };
}

function kept(object: StoredObject | undefined): StoredObject {
  if (object === undefined) throw new TypeError('a write of the resource store contains no change');
  return object;
}

function storageFull(): ApiRefusal {
  const message = 'no space is left in the data directory';
  return new ApiRefusal('StorageFull', message, { causes: [{ reason: 'StorageFull', message }] });
}

function ignore(): void {}
