import type { Resource } from '#resources/metadata';

/** Any object of a Kubernetes API: a Portcullis resource or a built-in one, which may lack spec and status. */
export type KubeObject = Pick<Resource, 'apiVersion' | 'kind' | 'metadata'> & {
  readonly spec?: unknown;
  readonly status?: unknown;
};
