import { randomUUID } from 'node:crypto';
import { sameJson } from '#kube/apply/same-json';
import type { KubeObject } from '#kube/client/kube-object';
import { apiVersionOf, isOwnKind } from '#kube/client/resource-path';
import type { Kind } from '#resources/kinds';
import type { Metadata, Stored } from '#resources/metadata';
import { ApiRefusal, conflict, notFound } from '../../operator/folder-api/api-refusal.ts';
import { applyJsonPatch } from '../../operator/folder-api/apply-json-patch.ts';
import { decideCreate, type WriteDecision, wholeSeconds } from '../../operator/folder-api/decide-create.ts';
import { decideDelete } from '../../operator/folder-api/decide-delete.ts';
import { decidePatch } from '../../operator/folder-api/decide-patch.ts';
import { parseLabelSelector } from '../../operator/folder-api/label-selector.ts';
import { decodeStoredObject, encodeStoredObject, type StoredObject } from '../../operator/folder-api/stored-object.ts';
import type { VirtualTime } from './virtual-time.ts';

export const modelNamespace = 'model';

/** One change of an object, with the client that made the change. */
export type RecordedChange = {
  readonly kind: Kind;
  readonly writer: string;
  readonly version: number;
  readonly before: Stored<KubeObject> | undefined;
  /** The new object; absent after a deletion. */
  readonly after: Stored<KubeObject> | undefined;
};

type Selection = { readonly labelSelector?: string; readonly fieldSelector?: string };

/** Called with every requested write before it is executed. */
export type Request =
  | { readonly verb: 'create'; readonly kind: Kind; readonly object: KubeObject }
  | {
      readonly verb: 'patch' | 'patchStatus';
      readonly kind: Kind;
      readonly name: string;
      readonly operations: readonly { readonly op: string; readonly path: string }[];
    }
  | {
      readonly verb: 'delete';
      readonly kind: Kind;
      readonly name: string;
      readonly options: { readonly uid?: string; readonly resourceVersion?: string };
    };

/**
 * An API server in memory. Portcullis kinds follow the rules of the operator's folder, which passes the same test suite
 * as the real API server; built-in kinds are stored unchanged. Objects whose owners are deleted are garbage collected.
 */
export type MemoryApi = {
  get(kind: Kind, name: string): Stored<KubeObject> | undefined;
  list(kind: Kind, selection?: Selection): { items: Stored<KubeObject>[]; resourceVersion: string };
  /** @throws ApiRefusal */
  write(writer: string, request: Request): Stored<KubeObject> | undefined;
  version(): number;
  /** The first change of a kind after a version. */
  after(kind: Kind, version: number, selection: Selection): RecordedChange | undefined;
  /** The oldest version from which changes can be read. */
  base(): number;
  /** Compacts all earlier changes. */
  compact(): void;
  /** Called immediately after every change. */
  onChange(listener: (change: RecordedChange) => void): () => void;
};

const collectWithinMs = 3_000;

export function createMemoryApi(time: VirtualTime): MemoryApi {
  const tables = new Map<string, Map<string, StoredObject>>();
  const changes: RecordedChange[] = [];
  const listeners = new Set<(change: RecordedChange) => void>();
  let current = 1_000;
  let base = current;

  const tableOf = (kind: Kind): Map<string, StoredObject> => {
    const key = tableKey(kind);
    const table = tables.get(key) ?? new Map<string, StoredObject>();
    tables.set(key, table);
    return table;
  };

  function list(kind: Kind, selection: Selection = {}) {
    const selects = selector(selection);
    const items = [...tableOf(kind).values()].map(decode).filter(selects);
    items.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    return { items, resourceVersion: String(current) };
  }

  function write(writer: string, request: Request): Stored<KubeObject> | undefined {
    const { kind } = request;
    const name = request.verb === 'create' ? request.object.metadata.name : request.name;
    const held = tableOf(kind).get(name);
    const decision = isOwnKind(kind) ? decideOwn(request, held, time) : decideBuiltin(request, held, time);
    if (decision.act === 'keep') return held === undefined ? undefined : decode(held);
    current += 1;
    const metadata = { ...decision.object.metadata, resourceVersion: String(current) };
    const stored = encodeStoredObject(kind, { ...decision.object, metadata });
    const before = held === undefined ? undefined : decode(held);
    const after = decision.act === 'remove' ? undefined : decode(stored);
    if (after === undefined) tableOf(kind).delete(name);
    else tableOf(kind).set(name, stored);
    const change: RecordedChange = { kind, writer, version: current, before, after };
    changes.push(change);
    for (const listener of [...listeners]) listener(change);
    time.schedule(time.random() * collectWithinMs, collect);
    return decode(stored);
  }

  /** Deletes every object whose owner no longer exists. */
  function collect(): void {
    const all = [...tables.values()].flatMap((table) => [...table.values()]);
    const uids = new Set(all.map(({ metadata }) => metadata.uid));
    for (const { kind, name, metadata } of all) {
      const owners = metadata.ownerReferences ?? [];
      if (owners.length === 0 || owners.some(({ uid }) => uids.has(uid))) continue;
      if (tableOf(kind).get(name)?.metadata.uid !== metadata.uid) continue;
      write('collector', { verb: 'delete', kind, name, options: { uid: metadata.uid } });
    }
  }

  return {
    get: (kind, name) => {
      const held = tableOf(kind).get(name);
      return held === undefined ? undefined : decode(held);
    },
    list,
    write,
    version: () => current,
    after(kind, version, selection) {
      const selects = selector(selection);
      const key = tableKey(kind);
      let low = 0;
      let high = changes.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((changes[middle]?.version ?? 0) > version) high = middle;
        else low = middle + 1;
      }
      for (let index = low; index < changes.length; index += 1) {
        const change = changes[index];
        const subject = change?.after ?? change?.before;
        if (change !== undefined && subject !== undefined && tableKey(change.kind) === key && selects(subject))
          return change;
      }
      return undefined;
    },
    base: () => base,
    compact() {
      base = current;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Metadata-only requests read the objects themselves. */
function tableKey(kind: Kind): string {
  return `${apiVersionOf(kind)}/${kind.plural}`;
}

function decode(stored: StoredObject): Stored<KubeObject> {
  return decodeStoredObject(stored);
}

function selector({ labelSelector, fieldSelector }: Selection): (object: KubeObject) => boolean {
  const byLabels = parseLabelSelector(labelSelector);
  const named = /^metadata\.name=(.+)$/.exec(fieldSelector ?? '')?.[1];
  return ({ metadata }) => byLabels(metadata.labels) && (named === undefined || metadata.name === named);
}

function decideOwn(request: Request, held: StoredObject | undefined, { clock }: VirtualTime): WriteDecision {
  const { kind } = request;
  const now = clock.date();
  switch (request.verb) {
    case 'create':
      return decideCreate({ kind, namespace: modelNamespace, body: request.object, uid: randomUUID(), now }, held);
    case 'patch':
    case 'patchStatus': {
      const part = request.verb === 'patch' ? 'object' : 'status';
      return decidePatch({ kind, name: request.name, part, patch: request.operations }, held);
    }
    case 'delete':
      return decideDelete({ kind, name: request.name, options: { preconditions: request.options }, now }, held);
  }
}

function decideBuiltin(request: Request, held: StoredObject | undefined, { clock }: VirtualTime): WriteDecision {
  const { kind } = request;
  if (request.verb === 'create') return createBuiltin(request.object, held, kind, clock.date());
  if (held === undefined) throw notFound(kind, request.name);
  if (request.verb === 'delete') {
    const { uid = held.metadata.uid, resourceVersion = held.metadata.resourceVersion } = request.options;
    if (uid !== held.metadata.uid || resourceVersion !== held.metadata.resourceVersion) {
      throw conflict(kind, request.name, 'Precondition failed');
    }
    return { act: 'remove', object: decodeStoredObject(held) };
  }
  const before = decodeStoredObject(held);
  const patched = applyJsonPatch(before, request.operations) as typeof before;
  if (patched.metadata.uid !== before.metadata.uid) throw conflict(kind, request.name, 'another UID');
  if (patched.metadata.resourceVersion !== before.metadata.resourceVersion)
    throw conflict(kind, request.name, 'version');
  if (sameJson(patched, before)) return { act: 'keep' };
  const generation = (before.metadata.generation ?? 0) + (sameJson(patched.spec, before.spec) ? 0 : 1);
  return { act: 'put', object: { ...patched, metadata: { ...patched.metadata, generation } } };
}

function createBuiltin(object: KubeObject, held: StoredObject | undefined, kind: Kind, now: Date): WriteDecision {
  const { name } = object.metadata;
  if (held !== undefined)
    throw new ApiRefusal('AlreadyExists', `${kind.plural} "${name}" already exists`, { kind, name });
  const server: Metadata = {
    name,
    namespace: modelNamespace,
    uid: randomUUID(),
    generation: 1,
    creationTimestamp: wholeSeconds(now),
  };
  const { status: _status, ...sent } = object;
  const made = { ...sent, metadata: { ...object.metadata, ...server } } as Stored<KubeObject>;
  return { act: 'put', object: { ...made, spec: made.spec } };
}
