import { confirmDeletionAnnotation, type Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { confirmationOf } from '#resources/protection';
import type { KubeClient } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/kube-error.ts';
import type { KubeObject } from '../client/kube-object.ts';
import { applyDesired } from './apply.ts';

type DeletingClient = Pick<KubeClient, 'get' | 'patch' | 'delete'>;

/** Attempts for an object whose status other writers change. */
const maxAttempts = 5;

/**
 * Deletes an object that protects a model, after a user has confirmed the deletion: sets the annotation that confirms
 * the deletion of this generation, and deletes the resource version that carries it. After a failed deletion the
 * confirmation is removed; a confirmation that is left by an interrupted command does not allow a deletion by name.
 * @throws KubeError precondition_failed or conflict if the generation of the object is not the one that the user saw
 */
export async function deleteConfirmed(client: DeletingClient, kind: Kind, object: Stored<KubeObject>): Promise<void> {
  const { name, uid, deletionTimestamp, annotations } = object.metadata;
  // A confirmation of the user, for example in a manifest.
  if (deletionTimestamp !== undefined || annotations?.[confirmDeletionAnnotation] === 'true') {
    return client.delete(kind, name, { uid });
  }
  try {
    await deleteVersion(client, kind, object);
  } catch (error) {
    await takeBack(client, kind, object, error);
    throw error;
  }
}

async function deleteVersion(client: DeletingClient, kind: Kind, object: Stored<KubeObject>): Promise<void> {
  const { name, uid, generation } = object.metadata;
  const annotations = { [confirmDeletionAnnotation]: confirmationOf(object.metadata) };
  let confirmed = await applyDesired(client, kind, object, { annotations }, 'generation');
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.delete(kind, name, { uid, resourceVersion: confirmed.metadata.resourceVersion });
    } catch (error) {
      if (!isKubeError(error, 'conflict') || attempt === maxAttempts) throw error;
      const live = await client.get(kind, name);
      if (live?.metadata.uid !== uid || live.metadata.generation !== generation) throw error;
      confirmed = live;
    }
  }
}

/** @throws KubeError with the code of `cause`, if the confirmation may still exist */
async function takeBack(
  client: DeletingClient,
  kind: Kind,
  { metadata: { name, uid } }: Stored<KubeObject>,
  cause: unknown,
): Promise<void> {
  try {
    const live = await client.get(kind, name);
    // The deletion may have been accepted although its answer was lost.
    if (live?.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined) return;
    await applyDesired(client, kind, live, { annotations: { [confirmDeletionAnnotation]: null } }, 'generation');
  } catch {
    if (!(cause instanceof KubeError)) return;
    const left = `the annotation ${confirmDeletionAnnotation} of ${kind.kind} ${name} may be left: remove it`;
    throw new KubeError(cause.code, `${cause.message}; ${left}`, cause.details, { cause });
  }
}
