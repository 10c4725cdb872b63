import type { WorkloadTemplate } from '../../../../environment/workload-template.ts';
import { podLabels, workloadLabels } from '../../../resources/workload-labels.ts';

/** Keeps a drain of nodes from taking all pods of a workload at once. */
export function makePodDisruptionBudget(name: string, template: WorkloadTemplate) {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, labels: workloadLabels(name, template.labels) },
    spec: {
      selector: { matchLabels: podLabels(name) },
      maxUnavailable: template.maxUnavailable,
      // A pod that is not ready protects nobody, and must not keep a node from being drained.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    },
  };
}
