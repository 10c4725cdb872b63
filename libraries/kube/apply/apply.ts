import type { Kind } from '#resources/kinds';
import type { Metadata, Stored } from '#resources/metadata';
import type { KubeClient } from '../client/client.ts';
import { type JsonPatchOperation, pointerSegment } from '../client/json-patch.ts';
import type { KubeObject } from '../client/kube-object.ts';
import { sameJson } from './same-json.ts';

/** The desired parts of an object; absent members stay unchanged. */
type Desired = {
  /** The spec that replaces the whole spec of the object. */
  readonly spec?: unknown;
  /** Labels to merge by key; null removes a key. */
  readonly labels?: Readonly<Record<string, string | null>>;
  /** Annotations to merge by key; null removes a key. */
  readonly annotations?: Readonly<Record<string, string | null>>;
  /** The finalizers that replace those of the object. */
  readonly finalizers?: readonly string[];
  /** The owner references that replace those of the object. */
  readonly ownerReferences?: Metadata['ownerReferences'];
};

/**
 * The precondition of a write: the resource version, or only the generation, which allows concurrent writes of status
 * and metadata by others. Both also test the UID.
 */
type Precondition = 'resourceVersion' | 'generation';

/** The JSON Patch from `current` to `desired`, with its tests first; empty if there is no difference. */
export function patchOperations(
  current: Stored<KubeObject>,
  desired: Desired,
  precondition: Precondition = 'resourceVersion',
): readonly JsonPatchOperation[] {
  const { metadata } = current;
  const changes = [
    ...mapOperations('labels', metadata.labels, desired.labels),
    ...mapOperations('annotations', metadata.annotations, desired.annotations),
    ...listOperations('finalizers', metadata.finalizers, desired.finalizers),
    ...listOperations('ownerReferences', metadata.ownerReferences, desired.ownerReferences),
    ...(desired.spec === undefined || sameJson(current.spec, desired.spec)
      ? []
      : [{ op: 'replace', path: '/spec', value: desired.spec } as const]),
  ];
  return changes.length === 0 ? [] : [...preconditionTests(current, precondition), ...changes];
}

/** The JSON Patch that replaces the whole status; empty if there is no difference. */
export function statusOperations(
  current: Stored<KubeObject>,
  status: unknown,
  precondition: Precondition = 'resourceVersion',
): readonly JsonPatchOperation[] {
  if (sameJson(current.status, status)) return [];
  return [...preconditionTests(current, precondition), { op: 'add', path: '/status', value: status }];
}

/** Writes the difference and returns the resulting object; if there is no difference, no request is sent. */
export async function applyDesired<R extends KubeObject>(
  client: Pick<KubeClient, 'patch'>,
  kind: Kind,
  current: Stored<R>,
  desired: Desired,
  precondition: Precondition = 'resourceVersion',
): Promise<Stored<R>> {
  const operations = patchOperations(current, desired, precondition);
  return operations.length === 0 ? current : client.patch<R>(kind, current.metadata.name, operations);
}

/** Writes the status if it differs and returns the resulting object. */
export async function applyStatus<R extends KubeObject>(
  client: KubeClient,
  kind: Kind,
  current: Stored<R>,
  status: R['status'],
  precondition: Precondition = 'resourceVersion',
): Promise<Stored<R>> {
  const operations = statusOperations(current, status, precondition);
  return operations.length === 0 ? current : client.patchStatus<R>(kind, current.metadata.name, operations);
}

/** JSON Patch tests that fail if the object differs from the object that was read. */
export function preconditionTests(
  current: Stored<KubeObject>,
  precondition: Precondition,
): readonly JsonPatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: current.metadata.uid },
    { op: 'test', path: `/metadata/${precondition}`, value: current.metadata[precondition] },
  ];
}

function mapOperations(
  member: 'labels' | 'annotations',
  current: Readonly<Record<string, string>> | undefined,
  desired: Readonly<Record<string, string | null>> | undefined,
): readonly JsonPatchOperation[] {
  const entries = Object.entries(desired ?? {});
  if (current === undefined) {
    const set = Object.fromEntries(entries.filter(([, value]) => value !== null));
    return Object.keys(set).length === 0 ? [] : [{ op: 'add', path: `/metadata/${member}`, value: set }];
  }
  return entries.flatMap(([key, value]): JsonPatchOperation[] => {
    const path = `/metadata/${member}/${pointerSegment(key)}`;
    if (value === null) return Object.hasOwn(current, key) ? [{ op: 'remove', path }] : [];
    return Object.hasOwn(current, key) && current[key] === value ? [] : [{ op: 'add', path, value }];
  });
}

function listOperations(
  member: 'finalizers' | 'ownerReferences',
  current: readonly unknown[] | undefined,
  desired: readonly unknown[] | undefined,
): readonly JsonPatchOperation[] {
  if (desired === undefined || sameJson(current ?? [], desired)) return [];
  const path = `/metadata/${member}`;
  return desired.length === 0 ? [{ op: 'remove', path }] : [{ op: 'add', path, value: desired }];
}
