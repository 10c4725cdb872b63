import { confirmDeletionAnnotation, type Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { KubeClient } from '../client/client.ts';
import { KubeError } from '../client/kube-error.ts';
import type { KubeObject } from '../client/kube-object.ts';
import { applyDesired } from './apply.ts';

type DeletingClient = Pick<KubeClient, 'get' | 'patch' | 'delete'>;

/**
 * Deletes an object that protects a model, after a user has confirmed the deletion: sets the annotation that confirms
 * it. The confirmation of a deletion that failed is removed again, so that it confirms no later deletion.
 */
export async function deleteConfirmed(client: DeletingClient, kind: Kind, object: Stored<KubeObject>): Promise<void> {
  const { name, uid, deletionTimestamp, annotations } = object.metadata;
  // A confirmation that exists already was set by the user, for example in a manifest.
  if (deletionTimestamp !== undefined || annotations?.[confirmDeletionAnnotation] === 'true') {
    return client.delete(kind, name, { uid });
  }
  try {
    await applyDesired(client, kind, object, { annotations: { [confirmDeletionAnnotation]: 'true' } }, 'generation');
    await client.delete(kind, name, { uid });
  } catch (error) {
    await takeBack(client, kind, object, error);
    throw error;
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
    const left = `the annotation ${confirmDeletionAnnotation} of ${kind.kind} ${name} may be left, and allows its deletion: remove it`;
    throw new KubeError(cause.code, `${cause.message}; ${left}`, cause.details, { cause });
  }
}
