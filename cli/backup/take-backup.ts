import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import { type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';
import type { Backup } from './backup-file.ts';
import { backupKinds, backupObject, isKept } from './backup-object.ts';

/** How often everything is read again when something was written meanwhile. */
const maxReadings = 5;

/**
 * Reads everything that a backup holds, as it was at one time: what may change is read twice, until both readings say
 * the same. Revisions come last; they are never changed or removed, so that each one that is referred to is there.
 * @throws CliError conflict where it goes on changing
 */
export async function takeBackup(client: KubeClient, now: Date): Promise<Backup> {
  const changing = backupKinds.filter((kind) => kind !== kinds.policyRevision);
  for (let reading = 1; reading <= maxReadings; reading += 1) {
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
    'The resources went on changing while they were read: repeat the command when nothing is being applied.',
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
  return { ...object, spec: undefined, status: undefined };
}

/** What a write of more than the status changes. */
function stateOf({ metadata }: Stored<Resource>): string {
  const { name, uid, generation, deletionTimestamp, labels, annotations, finalizers } = metadata;
  return JSON.stringify([name, uid, generation, deletionTimestamp, labels, annotations, finalizers]);
}
