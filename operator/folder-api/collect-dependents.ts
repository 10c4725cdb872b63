import type { Clock } from '#kit/time/clock';
import { createWorkQueue } from '#kube/queue/work-queue';
import { apiVersion } from '#resources/kinds';
import type { Metadata, Resource, Stored } from '#resources/metadata';
import { ApiRefusal, notFound } from './api-refusal.ts';
import type { WriteDecision } from './decide-create.ts';
import { decideDelete } from './decide-delete.ts';
import type { ResourceStore } from './resource-store.ts';
import { decodeStoredObject, type StoredObject } from './stored-object.ts';

type Owner = NonNullable<Metadata['ownerReferences']>[number];

/**
 * Deletes objects whose owners have all been deleted, as the garbage collector of Kubernetes does: by UID, in the
 * background, and with respect to finalizers. A reference to a deleted owner is removed while another owner exists.
 * Objects with an owner of another API group are kept, because this server cannot tell whether the owner exists.
 */
export function startCollecting(
  store: ResourceStore,
  clock: Clock,
  onError: (error: unknown) => void,
): AsyncDisposable {
  const due = new Map<string, StoredObject>();
  const queue = createWorkQueue({
    concurrency: 1,
    clock,
    onError: (_key, error) => onError(error),
    async process(key) {
      const object = due.get(key);
      if (object === undefined) return;
      await collect(store, object, clock).catch(ignoreAbsent);
      due.delete(key);
    },
  });

  function look(object: StoredObject | undefined): void {
    if (object === undefined || !hasLostOwner(store, object.metadata)) return;
    const key = `${object.kind.plural}/${object.name}`;
    due.set(key, object);
    queue.add(key);
  }

  const unsubscribe = store.subscribe(({ type, object }) => {
    if (type !== 'DELETED') return look(object);
    for (const dependent of store.dependentsOf(object.metadata.uid)) look(dependent);
  });
  for (const object of store.all()) look(object);
  return {
    async [Symbol.asyncDispose]() {
      unsubscribe();
      await queue[Symbol.asyncDispose]();
    },
  };
}

function hasLostOwner(store: ResourceStore, metadata: Metadata): boolean {
  return metadata.ownerReferences?.some((owner) => isLost(store, owner)) ?? false;
}

function isLost(store: ResourceStore, owner: Owner): boolean {
  return owner.apiVersion === apiVersion && !store.hasUid(owner.uid);
}

async function collect(store: ResourceStore, { kind, name }: StoredObject, clock: Clock): Promise<void> {
  await store.change(kind, name, (current): WriteDecision => {
    const owners = current?.metadata.ownerReferences ?? [];
    const left = owners.filter((owner) => !isLost(store, owner));
    if (current === undefined) throw notFound(kind, name);
    if (left.length === owners.length) return { act: 'keep' };
    if (left.length === 0) return decideDelete({ kind, name, options: {}, now: clock.date() }, current);
    const object: Stored<Resource> = decodeStoredObject(current);
    return { act: 'put', object: { ...object, metadata: { ...object.metadata, ownerReferences: left } } };
  });
}

/** Another writer changed or deleted the dependent object first. */
function ignoreAbsent(error: unknown): void {
  if (!(error instanceof ApiRefusal && error.reason === 'NotFound')) throw error;
}
