import type { AgentTemplate } from '../../environment/agent-template.ts';
import type { WorkloadTemplate } from '../../environment/workload-template.ts';
import { heapMebibytes } from './memory-size.ts';

type PodTemplate = WorkloadTemplate | AgentTemplate;

/** User of the processes in their image, without rights on the node. */
const imageUser = 65_532;

/** The file for the reason of an exit. The kubelet mounts it writable, also with a read-only root file system. */
export const terminationMessage = '/dev/termination-log';

/** Seconds for the start of a process before the kubelet restarts it: minutes on a node without free processors. */
export const startSeconds = 300;

/**
 * The members of a pod without access to the API server that meet the profile `restricted` of the Pod Security
 * Standards. User and group are absent if the cluster assigns users and refuses others (OpenShift).
 */
export function restrictedPod({ runAsUser: user = imageUser }: PodTemplate) {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      ...(user === '' ? {} : { runAsUser: user, runAsGroup: user, fsGroup: user }),
      seccompProfile: { type: 'RuntimeDefault' },
    },
  };
}

/** The security context of a container that meets the same profile. */
export const restrictedContainer = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  privileged: false,
  readOnlyRootFilesystem: true,
};

/** The members of a pod that its template chooses; `spread` holds its topologySpreadConstraints. */
export function placementOf<T>(template: PodTemplate, spread: readonly T[] = []) {
  const { imagePullSecrets, serviceAccountName, nodeSelector, tolerations, affinity, priorityClassName } = template;
  return {
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets }),
    ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
    ...(affinity === undefined ? {} : { affinity }),
    ...(spread.length === 0 ? {} : { topologySpreadConstraints: spread }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
  };
}

/** NODE_OPTIONS for the memory limit of the template; empty without a limit. */
export function heapSettings({ resources }: PodTemplate): readonly { readonly name: string; readonly value: string }[] {
  const memory = resources.limits?.['memory'];
  const heap = memory === undefined ? undefined : heapMebibytes(memory);
  return heap === undefined ? [] : [{ name: 'NODE_OPTIONS', value: `--max-old-space-size=${heap}` }];
}
