import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import { type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';
import type { Backup } from './backup-file.ts';
import { backupKinds, backupObject, isKept } from './backup-object.ts';

/** Attempts to read a consistent state while resources are being changed. */
const maxAttempts = 5;

/**
 * Reads a consistent backup: changeable kinds are read until two reads in a row are equal. Revisions are read last; they
 * are never changed or removed, so every revision that is referred to is included.
 * @throws CliError conflict if the resources keep changing
 */
export async function takeBackup(client: KubeClient, now: Date): Promise<Backup> {
  const changing = backupKinds.filter((kind) => kind !== kinds.policyRevision);
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const objects = new Map<Kind, readonly Stored<Resource>[]>();
    for (const kind of changing) objects.set(kind, (await listAll(client, kind)).items);
    if (!(await isUnchanged(client, objects))) continue;
    objects.set(kinds.policyRevision, (await listAll(client, kinds.policyRevision)).items);
    const inOrder = backupKinds.flatMap((kind) => objects.get(kind) ?? []);
    return {
      namespace: client.namespace,
      takenAt: now.toISOString(),
      objects: inOrder.filter(isKept).map(backupObject),
    };
  }
  throw new CliError(
    'conflict',
    'The resources kept changing while they were read: repeat the command when nothing is being applied.',
  );
}

async function isUnchanged(
  client: KubeClient,
  before: ReadonlyMap<Kind, readonly Stored<Resource>[]>,
): Promise<boolean> {
  for (const [kind, objects] of before) {
    const { items } = await listAll<Resource>(client, kind, { transform: withoutContent });
    if (items.map(stateOf).join('\n') !== objects.map(stateOf).join('\n')) return false;
  }
  return true;
}

function withoutContent(object: Stored<Resource>): Stored<Resource> {
  return { ...object, spec: undefined, status: backupObject(object).status };
}

/**
 * The metadata fields that every write of an object changes, except a write of its status, and the part of the status
 * that a backup contains: the application that a binding has pinned must be the application of its route.
 */
function stateOf(object: Stored<Resource>): string {
  const { name, uid, generation, deletionTimestamp, labels, annotations, finalizers } = object.metadata;
  const { status } = backupObject(object);
  return JSON.stringify([name, uid, generation, deletionTimestamp, labels, annotations, finalizers, status]);
}
