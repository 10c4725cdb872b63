import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { KubeError } from './kube-error.ts';
import type { KubeObject } from './kube-object.ts';
import { apiVersionOf, isOwnKind } from './resource-path.ts';

/** Whether a decoded value is a stored object of this kind: what a server always sets is there. */
export function isServed<R extends KubeObject>(value: unknown, kind: Kind): value is Stored<R> {
  const object = value as Partial<KubeObject> | null | undefined;
  const metadata = object?.metadata as Partial<KubeObject['metadata']> | null | undefined;
  return (
    hasType(object, kind) &&
    typeof metadata?.name === 'string' &&
    typeof metadata.uid === 'string' &&
    typeof metadata.resourceVersion === 'string' &&
    hasGeneration(metadata, kind) &&
    typeof metadata.creationTimestamp === 'string'
  );
}

/** Metadata alone comes as objects of a kind of its own, from servers that can leave the rest out. */
export function hasType(
  object: Partial<Pick<KubeObject, 'apiVersion' | 'kind'>> | null | undefined,
  kind: Kind,
): boolean {
  if (object?.apiVersion === apiVersionOf(kind) && object.kind === kind.kind) return true;
  return (
    kind.metadataOnly === true && object?.apiVersion === metadataType.apiVersion && object.kind === metadataType.kind
  );
}

const metadataType = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' } as const;

/** The media type that asks for objects of a kind, or for a list of them. */
export function acceptOf(kind: Kind, what: 'object' | 'list'): string {
  if (kind.metadataOnly !== true) return 'application/json';
  return `application/json;as=${metadataType.kind}${what === 'list' ? 'List' : ''};g=meta.k8s.io;v=v1`;
}

/** Many built-in kinds have no generation; Kubernetes reads its absence as 0, and so do we. */
function hasGeneration(metadata: { generation?: number | undefined }, kind: Kind): boolean {
  if (!isOwnKind(kind)) metadata.generation ??= 0;
  return typeof metadata.generation === 'number';
}

/** The object of an answer, or `unavailable` when the answer is anything else. */
export function servedObject<R extends KubeObject>(value: unknown, kind: Kind): Stored<R> {
  if (!isServed<R>(value, kind))
    throw new KubeError('unavailable', `the API server did not answer with a ${kind.kind}`);
  return withoutManagedFields(value);
}

/**
 * Takes metadata.managedFields away, which nobody here reads and which doubles the size of an object. The metadata are
 * made anew: an object that lost a member is held as a hash table, and takes a seventh more memory.
 */
export function withoutManagedFields<R extends KubeObject>(object: Stored<R>): Stored<R> {
  const { managedFields: _unread, ...metadata } = object.metadata;
  return Object.assign(object, { metadata });
}

export type ObjectList<R extends KubeObject> = {
  readonly items: readonly Stored<R>[];
  /** Version of the list: a watch from here misses nothing. */
  readonly resourceVersion: string;
  /** Token of the next page; absent on the last one. */
  readonly continue?: string;
};

/** The list of an answer, or `unavailable` when the answer is anything else. */
export function servedList<R extends KubeObject>(value: unknown, kind: Kind): ObjectList<R> {
  const list = value as {
    kind?: unknown;
    items?: unknown;
    metadata?: { resourceVersion?: unknown; continue?: unknown };
  };
  const version = list?.metadata?.resourceVersion;
  // A list of metadata that is empty has no list at all.
  const items = kind.metadataOnly === true ? (list?.items ?? []) : list?.items;
  if (!isListKind(list?.kind, kind) || !Array.isArray(items) || typeof version !== 'string') {
    throw new KubeError('unavailable', `the API server did not answer with a list of ${kind.kind}`);
  }
  const next = list.metadata?.continue;
  return {
    items: items.map((item: unknown) => servedObject<R>(typedItem(item, kind), kind)),
    resourceVersion: version,
    ...(typeof next === 'string' && next !== '' ? { continue: next } : {}),
  };
}

function isListKind(name: unknown, kind: Kind): boolean {
  return name === `${kind.kind}List` || (kind.metadataOnly === true && name === `${metadataType.kind}List`);
}

/** The items of a list of a built-in kind do not repeat what the list says of them. */
function typedItem(item: unknown, kind: Kind): unknown {
  if (isOwnKind(kind) || typeof item !== 'object' || item === null || 'kind' in item) return item;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...item };
}
