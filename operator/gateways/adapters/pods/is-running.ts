import type { Pod } from '#kube/client/builtin-types';

/**
 * Whether a container of the gateway pod runs. A pod under deletion counts as running until its containers have ended;
 * a pod in restart backoff does not.
 */
export function isPodRunning({ status }: Pick<Pod, 'status'>): boolean {
  if (status?.phase !== 'Running') return false;
  return status.containerStatuses?.some((container) => container.state?.running !== undefined) ?? false;
}
