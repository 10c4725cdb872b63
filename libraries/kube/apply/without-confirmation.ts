import { confirmUnguardedAnnotation, type Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { confirmationOf } from '#resources/protection';
import type { KubeClient } from '../client/client.ts';
import { applyDesired } from './apply.ts';

/**
 * Removes a confirmation that an object already has, before its next change. Servers accept only a confirmation that is
 * set together with the change, and a change cannot set the same value again.
 * @returns the object in its stored form afterwards; without such a confirmation nothing is written
 * @throws KubeError precondition_failed if the object was changed since it was read
 */
export async function withoutConfirmation<R extends Resource>(
  client: Pick<KubeClient, 'patch'>,
  kind: Kind,
  object: Stored<R>,
): Promise<Stored<R>> {
  const { annotations } = object.metadata;
  if (annotations?.[confirmUnguardedAnnotation] !== confirmationOf(object.metadata)) return object;
  const removed = { annotations: { [confirmUnguardedAnnotation]: null } };
  return applyDesired(client, kind, object, removed, 'generation');
}
