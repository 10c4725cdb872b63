import { confirmUnguardedAnnotation, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { confirmationOf } from '#resources/protection';
import { patchAnnotated } from '../apply/patch-annotated.ts';
import { withoutConfirmation } from '../apply/without-confirmation.ts';
import type { JsonPatchOperation, KubeClient } from '../client/client.ts';
import { isKubeError } from '../client/kube-error.ts';

/** Attempts for a binding whose generation other writers change. */
const maxAttempts = 5;

/**
 * Patches a binding so that it loses its guardrail, and confirms the loss in the same change, as servers require.
 * @throws KubeError not_found if there is no such binding; precondition_failed if a test of the change fails
 */
export async function patchUnguarded(
  client: Pick<KubeClient, 'get' | 'patch'>,
  name: string,
  change: readonly JsonPatchOperation[],
): Promise<Stored<ModelBinding>> {
  const kind = kinds.modelBinding;
  for (let attempt = 1; ; attempt++) {
    const live = await client.get<ModelBinding>(kind, name);
    if (live === undefined) return client.patch<ModelBinding>(kind, name, change);
    const { generation } = live.metadata;
    const confirmation = { [confirmUnguardedAnnotation]: confirmationOf(live.metadata) };
    const isRead = { op: 'test', path: '/metadata/generation', value: generation } as const;
    try {
      await withoutConfirmation(client, kind, live);
      return await patchAnnotated<ModelBinding>(client, kind, name, confirmation, [isRead, ...change]);
    } catch (error) {
      if (!isKubeError(error, 'precondition_failed') || attempt === maxAttempts) throw error;
      const now = await client.get<ModelBinding>(kind, name);
      if (now?.metadata.generation === generation) throw error;
    }
  }
}
