import { confirmUnguardedAnnotation, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { JsonPatchOperation, KubeClient } from '../client/client.ts';
import { patchAnnotated } from './patch-annotated.ts';

/**
 * Patches a binding so that it loses its guardrail, and confirms it in the same change, as servers ask for.
 * @param token a value that no earlier change of the binding has used
 */
export function patchUnguarded(
  client: Pick<KubeClient, 'get' | 'patch'>,
  name: string,
  token: string,
  change: readonly JsonPatchOperation[],
): Promise<Stored<ModelBinding>> {
  return patchAnnotated(client, kinds.modelBinding, name, { [confirmUnguardedAnnotation]: token }, change);
}
