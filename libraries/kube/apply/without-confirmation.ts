import { confirmUnguardedAnnotation, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { confirmationOf } from '#resources/protection';
import type { KubeClient } from '../client/client.ts';
import { applyDesired } from './apply.ts';

/**
 * Removes a confirmation that a binding already has for its next change. Servers accept only a confirmation that is set
 * in the same change, so the change itself could not set the equal value again.
 * @returns the binding as it is stored afterwards; without such a confirmation nothing is written
 * @throws KubeError precondition_failed if the binding was changed since it was read
 */
export async function withoutConfirmation(
  client: Pick<KubeClient, 'patch'>,
  binding: Stored<ModelBinding>,
): Promise<Stored<ModelBinding>> {
  const { annotations } = binding.metadata;
  if (annotations?.[confirmUnguardedAnnotation] !== confirmationOf(binding.metadata)) return binding;
  const removed = { annotations: { [confirmUnguardedAnnotation]: null } };
  return applyDesired(client, kinds.modelBinding, binding, removed, 'generation');
}
