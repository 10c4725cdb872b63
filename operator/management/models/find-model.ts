import type { KubeClient } from '#kube/client/client';
import { idLabel, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { ManagementCaches } from '../caches/management-caches.ts';

/**
 * The live binding of a model. The cache only provides the object name; absence is confirmed by the server. If two
 * objects have the same id, the API shows the object without a conflict.
 */
export async function findModel(
  client: Pick<KubeClient, 'get' | 'list'>,
  caches: Pick<ManagementCaches, 'bindings'>,
  modelId: string,
): Promise<Stored<ModelBinding> | undefined> {
  const [known, ...others] = caches.bindings.by('id', modelId).filter(isShownModel);
  if (known !== undefined && others.length === 0) {
    const live = await client.get<ModelBinding>(kinds.modelBinding, known.metadata.name);
    if (live?.metadata.labels?.[idLabel] === modelId && isShownModel(live)) return live;
  }
  const { items } = await client.list<ModelBinding>(kinds.modelBinding, { labelSelector: `${idLabel}=${modelId}` });
  return items.filter(isShownModel).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

/** Whether the API shows a model under its id, because no other object owns the id. */
export function isShownModel({ status }: Pick<ModelBinding, 'status'>): boolean {
  const accepted = status?.conditions?.find((condition) => condition.type === 'Accepted');
  return !(accepted?.status === 'False' && accepted.reason === 'IdConflict');
}
