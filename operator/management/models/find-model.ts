import type { KubeClient } from '#kube/client/client';
import { idLabel, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { ManagementCaches } from '../caches.ts';

/**
 * The binding of a model, as it is now. The cache only tells which name to ask for; that there is none is believed only
 * when the server says so. Of two objects with one id the API shows the one that has no conflict.
 */
export async function findModel(
  client: Pick<KubeClient, 'get' | 'list'>,
  caches: Pick<ManagementCaches, 'bindings'>,
  modelId: string,
): Promise<Stored<ModelBinding> | undefined> {
  const [known, ...others] = caches.bindings.by('id', modelId).filter(isShown);
  if (known !== undefined && others.length === 0) {
    const live = await client.get<ModelBinding>(kinds.modelBinding, known.metadata.name);
    if (live?.metadata.labels?.[idLabel] === modelId && isShown(live)) return live;
  }
  const { items } = await client.list<ModelBinding>(kinds.modelBinding, { labelSelector: `${idLabel}=${modelId}` });
  return items.filter(isShown).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

function isShown({ status }: Pick<ModelBinding, 'status'>): boolean {
  const accepted = status?.conditions?.find((condition) => condition.type === 'Accepted');
  return !(accepted?.status === 'False' && accepted.reason === 'IdConflict');
}
