import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { keepAuthors } from './change-author.ts';
import { KubeError } from './kube-error.ts';
import type { KubeObject } from './kube-object.ts';
import { apiVersionOf, isOwnKind } from './resource-path.ts';

/** Whether a decoded value is a stored object of this kind, with every member that a server sets. */
export function isStoredObject<R extends KubeObject>(value: unknown, kind: Kind): value is Stored<R> {
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

/** Whether an object is of this kind; a metadata-only response has the kind PartialObjectMetadata instead. */
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

/** The Accept header of a request for an object of this kind or for a list. */
export function acceptOf(kind: Kind, what: 'object' | 'list'): string {
  if (kind.metadataOnly !== true) return 'application/json';
  return `application/json;as=${metadataType.kind}${what === 'list' ? 'List' : ''};g=meta.k8s.io;v=v1`;
}

/** Many built-in kinds have no generation; as in Kubernetes, absence means 0. */
function hasGeneration(metadata: { generation?: number | undefined }, kind: Kind): boolean {
  if (!isOwnKind(kind)) metadata.generation ??= 0;
  return typeof metadata.generation === 'number';
}

/** The object of a response. @throws KubeError `unavailable` for any other content */
export function decodeObject<R extends KubeObject>(value: unknown, kind: Kind, namesUsers: boolean): Stored<R> {
  if (!isStoredObject<R>(value, kind))
    throw new KubeError('unavailable', `the response of the API server is not a ${kind.kind}`);
  return withoutManagedFields(value, namesUsers);
}

/**
 * Removes metadata.managedFields, which doubles the size of an object. The metadata is copied: V8 keeps an object with a
 * deleted member as a hash table, which takes a seventh more memory.
 * @param namesUsers whether the server names the users who make changes
 */
export function withoutManagedFields<R extends KubeObject>(object: Stored<R>, namesUsers: boolean): Stored<R> {
  return Object.assign(object, { metadata: keepAuthors(object.metadata, namesUsers) });
}

export type ObjectList<R extends KubeObject> = {
  readonly items: readonly Stored<R>[];
  /** Version of the list; a watch that starts at this version misses no change. */
  readonly resourceVersion: string;
  /** Token of the next page of the list; absent on the last page. */
  readonly continue?: string;
};

/** The list of a response. @throws KubeError `unavailable` for any other content */
export function decodeList<R extends KubeObject>(value: unknown, kind: Kind, namesUsers: boolean): ObjectList<R> {
  const list = value as {
    kind?: unknown;
    items?: unknown;
    metadata?: { resourceVersion?: unknown; continue?: unknown };
  };
  const version = list?.metadata?.resourceVersion;
  // An empty metadata-only list has no items member.
  const items = kind.metadataOnly === true ? (list?.items ?? []) : list?.items;
  if (!isListKind(list?.kind, kind) || !Array.isArray(items) || typeof version !== 'string') {
    throw new KubeError('unavailable', `the response of the API server is not a list of ${kind.kind}`);
  }
  const next = list.metadata?.continue;
  return {
    items: items.map((item: unknown) => decodeObject<R>(typedItem(item, kind), kind, namesUsers)),
    resourceVersion: version,
    ...(typeof next === 'string' && next !== '' ? { continue: next } : {}),
  };
}

function isListKind(name: unknown, kind: Kind): boolean {
  return name === `${kind.kind}List` || (kind.metadataOnly === true && name === `${metadataType.kind}List`);
}

/** The items of a list of a built-in kind lack apiVersion and kind. */
function typedItem(item: unknown, kind: Kind): unknown {
  if (isOwnKind(kind) || typeof item !== 'object' || item === null || 'kind' in item) return item;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...item };
}
