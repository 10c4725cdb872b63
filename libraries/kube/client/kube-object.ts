import type { Resource } from '#resources/metadata';

/** Any object of a Kubernetes API: a resource of ours, or a built-in one, which may have neither spec nor status. */
export type KubeObject = Pick<Resource, 'apiVersion' | 'kind' | 'metadata'> & {
  readonly spec?: unknown;
  readonly status?: unknown;
};
