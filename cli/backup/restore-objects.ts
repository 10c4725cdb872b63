import { setTimeout as delay } from 'node:timers/promises';
import { preconditionTests } from '#kube/apply/apply';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBindingStatus } from '#resources/model-binding';
import { CliError } from '../errors/cli-error.ts';
import { isSame, kindAndName } from './plan-restore.ts';

/** Number of objects that are written in parallel. */
const width = 8;
const maxAttempts = 5;
const pauseMs = 500;
/** Number of objects between two progress messages. */
const tellEvery = 500;

type Restored = {
  /** Whether the records of applications were restored, for which the right to write a status is needed. */
  readonly withRecords: boolean;
};

/**
 * Restores objects of one kind with their records, and deletes again the objects that were under deletion. Objects that
 * an interrupted restore has created are accepted.
 * @throws CliError conflict if a different object with the same name exists, KubeError
 */
export async function restoreObjects(
  client: KubeClient,
  kind: Kind,
  objects: readonly Resource[],
  say: (sentence: string) => void,
): Promise<Restored> {
  const waiting = [...objects];
  let done = 0;
  let withRecords = true;
  async function work(): Promise<void> {
    for (let object = waiting.shift(); object !== undefined; object = waiting.shift()) {
      withRecords = (await restoreOne(client, kind, object)) && withRecords;
      done += 1;
      if (done % tellEvery === 0) say(`${kind.kind}: ${done} of ${objects.length}`);
    }
  }
  await Promise.all(Array.from({ length: width }, work));
  return { withRecords };
}

/** @returns whether the application records of the object were restored */
async function restoreOne(client: KubeClient, kind: Kind, object: Resource): Promise<boolean> {
  const { deletionTimestamp, ...metadata } = object.metadata;
  const { status, ...rest } = object;
  const created = await createOrFind(client, kind, { ...rest, metadata });
  const withRecords = status === undefined || (await restoreRecords(client, kind, created, status));
  if (deletionTimestamp === undefined || created.metadata.deletionTimestamp !== undefined) return withRecords;
  await client.delete(kind, metadata.name, { uid: created.metadata.uid });
  return withRecords;
}

/** An attempt to create the object whose answer was lost may have succeeded. */
async function createOrFind(client: KubeClient, kind: Kind, object: Resource): Promise<Stored<Resource>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.create(kind, object);
    } catch (error) {
      if (isKubeError(error, 'already_exists')) {
        const found = await client.get(kind, object.metadata.name);
        if (found !== undefined && isSame(object, found)) return found;
        throw new CliError('conflict', `${kindAndName(object)} was created by another client meanwhile.`, {
          cause: error,
        });
      }
      const isRetryable = isKubeError(error, 'network', 'unavailable', 'too_many_requests');
      if (!isRetryable || attempt === maxAttempts) throw error;
    }
    await delay(pauseMs * attempt);
  }
}

async function restoreRecords(
  client: KubeClient,
  kind: Kind,
  created: Stored<Resource>,
  status: unknown,
): Promise<boolean> {
  if ((created.status as ModelBindingStatus | undefined)?.applications !== undefined) return true;
  const operations = [
    ...preconditionTests(created, 'generation'),
    { op: 'add', path: '/status', value: status } as const,
  ];
  try {
    await client.patchStatus(kind, created.metadata.name, operations);
    return true;
  } catch (error) {
    if (isKubeError(error, 'forbidden')) return false;
    throw error;
  }
}
