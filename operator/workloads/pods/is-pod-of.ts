import type { Pod } from '#kube/client/builtin-types';

/** Whether a ReplicaSet of the Deployment with that name controls the pod. */
export function isPodOf(deployment: string, { metadata }: Pick<Pod, 'metadata'>): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind === 'ReplicaSet' && owner.name.slice(0, owner.name.lastIndexOf('-')) === deployment;
}
