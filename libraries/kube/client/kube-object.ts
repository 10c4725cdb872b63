import type { Resource } from '#resources/metadata';

/** Any object of a Kubernetes API: a Portcullis resource or a built-in object, which may lack spec and status. */
export type KubeObject = Pick<Resource, 'apiVersion' | 'kind' | 'metadata'> & {
  readonly spec?: unknown;
  readonly status?: unknown;
};

/** UID of the owner that controls an object. */
export function controllerOf({ metadata }: Pick<KubeObject, 'metadata'>): string | undefined {
  return metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid;
}
