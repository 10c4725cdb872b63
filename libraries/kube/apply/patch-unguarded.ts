import { confirmUnguardedAnnotation, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { KubeClient } from '../client/client.ts';
import { type JsonPatchOperation, pointerSegment } from '../client/json-patch.ts';
import { isKubeError } from '../client/kube-error.ts';

/** Attempts to add the first annotation of a binding, which other writers of its metadata can disturb. */
const maxAttempts = 5;

/**
 * Patches a binding so that it loses its guardrail, and confirms it in the same change, as servers ask for.
 * @param token a value that no earlier change of the binding has used
 */
export async function patchUnguarded(
  client: Pick<KubeClient, 'get' | 'patch'>,
  name: string,
  token: string,
  change: readonly JsonPatchOperation[],
): Promise<Stored<ModelBinding>> {
  for (let attempt = 1; ; attempt++) {
    const live = await client.get<ModelBinding>(kinds.modelBinding, name);
    try {
      return await client.patch<ModelBinding>(kinds.modelBinding, name, [...confirmation(live, token), ...change]);
    } catch (error) {
      // Another writer of metadata came first: the tests of the change itself decide in the next attempt.
      const isRaced = live?.metadata.annotations === undefined && isKubeError(error, 'precondition_failed');
      if (!isRaced || attempt === maxAttempts) throw error;
    }
  }
}

/** A patch adds a member only to a map that exists, and replaces a map as a whole only where there is none. */
function confirmation(live: Stored<ModelBinding> | undefined, token: string): readonly JsonPatchOperation[] {
  if (live === undefined) return [];
  const { annotations, resourceVersion } = live.metadata;
  if (annotations === undefined) {
    return [
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'add', path: '/metadata/annotations', value: { [confirmUnguardedAnnotation]: token } },
    ];
  }
  return [{ op: 'add', path: `/metadata/annotations/${pointerSegment(confirmUnguardedAnnotation)}`, value: token }];
}
