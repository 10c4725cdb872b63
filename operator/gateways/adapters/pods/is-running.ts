import type { Pod } from '#kube/client/builtin-types';

/**
 * Whether the gateway of a pod runs: one container of it does. A pod that is told to end runs until its containers have
 * ended; one whose container waits to be started again does not.
 */
export function isRunning({ status }: Pick<Pod, 'status'>): boolean {
  if (status?.phase !== 'Running') return false;
  return status.containerStatuses?.some((container) => container.state?.running !== undefined) ?? false;
}
