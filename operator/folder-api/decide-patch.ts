import { sameJson } from '#kube/apply/same-json';
import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { ApiRefusal, conflict, notFound } from './api-refusal.ts';
import { applyJsonPatch } from './apply-json-patch.ts';
import { bodyObject, clientMetadata, modified, type WriteDecision } from './decide-create.ts';
import { decodeStoredObject, type StoredObject } from './stored-object.ts';
import { validateObject } from './validate-object.ts';

type PatchInput = {
  readonly kind: Kind;
  readonly name: string;
  /** `status` changes the status alone, `object` all but the status. */
  readonly part: 'object' | 'status';
  readonly patch: unknown;
};

/**
 * The effect of a PATCH. A patch without a change writes nothing, a change of the spec increments the generation, and
 * an object under deletion is removed with its last finalizer.
 */
export function decidePatch(input: PatchInput, current: StoredObject | undefined): WriteDecision {
  const { kind, name, part } = input;
  if (current === undefined) throw notFound(kind, name);
  const before = decodeStoredObject(current);
  const patched = bodyObject(applyJsonPatch(before, input.patch));
  assertSameObject(kind, before, patched);
  const next = part === 'status' ? withStatus(before, patched['status']) : withoutStatus(before, patched);
  if (sameJson(next, before)) return { act: 'keep' };
  validateObject(kind, next, before);
  const object: Stored<Resource> = { ...next, metadata: nextMetadata(before, next) };
  const gone = object.metadata.deletionTimestamp !== undefined && object.metadata.finalizers === undefined;
  return { act: gone ? 'remove' : 'put', object };
}

/** Identity cannot be patched; a UID or version in the patch is a precondition. */
function assertSameObject(kind: Kind, before: Stored<Resource>, patched: { readonly [member: string]: unknown }): void {
  const { name, namespace } = before.metadata;
  const metadata = bodyObject(patched['metadata']);
  if (patched['apiVersion'] !== before.apiVersion || patched['kind'] !== before.kind) {
    throw new ApiRefusal('BadRequest', 'apiVersion and kind of an object are immutable');
  }
  if (metadata['name'] !== name || (metadata['namespace'] ?? namespace) !== namespace) {
    throw new ApiRefusal('BadRequest', 'name and namespace of an object are immutable');
  }
  const { uid = before.metadata.uid, resourceVersion = before.metadata.resourceVersion } = metadata;
  if (uid !== before.metadata.uid) throw conflict(kind, name, 'Precondition failed: the object has another UID');
  if (resourceVersion !== before.metadata.resourceVersion) throw modified(kind, name);
}

function withStatus(before: Stored<Resource>, status: unknown): Stored<Resource> {
  const { status: _status, ...rest } = before;
  return status === undefined ? rest : { ...rest, status };
}

function withoutStatus(before: Stored<Resource>, patched: { readonly [member: string]: unknown }): Stored<Resource> {
  const metadata = patched['metadata'] as Stored<Resource>['metadata'];
  const { managedFields: _managedFields, ...sent } = metadata;
  const { uid, resourceVersion, generation, creationTimestamp, namespace } = before.metadata;
  const owned = { namespace, uid, resourceVersion, generation, creationTimestamp, ...deletionOf(before) };
  const { deletionTimestamp: _time, deletionGracePeriodSeconds: _grace, ...rest } = sent;
  const { status: _status, ...members } = patched;
  const next = { ...members, metadata: { ...rest, ...owned } } as Stored<Resource>;
  return before.status === undefined ? next : { ...next, status: before.status };
}

function nextMetadata(before: Stored<Resource>, next: Stored<Resource>): Stored<Resource>['metadata'] {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp } = before.metadata;
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    generation: sameJson(before.spec, next.spec) ? generation : generation + 1,
    creationTimestamp,
    ...deletionOf(before),
    ...clientMetadata(next.metadata),
  };
}

function deletionOf(before: Stored<Resource>): object {
  const { deletionTimestamp, deletionGracePeriodSeconds } = before.metadata;
  return deletionTimestamp === undefined ? {} : { deletionTimestamp, deletionGracePeriodSeconds };
}
