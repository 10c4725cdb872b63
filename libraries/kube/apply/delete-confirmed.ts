import { confirmDeletionAnnotation, type Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { KubeClient } from '../client/client.ts';
import type { KubeObject } from '../client/kube-object.ts';
import { applyDesired } from './apply.ts';

/** Deletes an object whose deletion a user has confirmed, although it protects a model: the object says so itself. */
export async function deleteConfirmed(
  client: Pick<KubeClient, 'patch' | 'delete'>,
  kind: Kind,
  object: Stored<KubeObject>,
): Promise<void> {
  const { name, uid, deletionTimestamp } = object.metadata;
  if (deletionTimestamp === undefined) {
    const annotations = { [confirmDeletionAnnotation]: 'true' };
    await applyDesired(client, kind, object, { annotations }, 'generation');
  }
  await client.delete(kind, name, { uid });
}
