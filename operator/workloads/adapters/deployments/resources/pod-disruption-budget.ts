import type { WorkloadTemplate } from '../../../../environment/workload-template.ts';
import { podLabels, workloadLabels } from '../../../resources/workload-labels.ts';

/** Limits how many pods of a workload a node drain evicts at once. */
export function makePodDisruptionBudget(name: string, template: WorkloadTemplate) {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, labels: workloadLabels(name, template.labels) },
    spec: {
      selector: { matchLabels: podLabels(name) },
      maxUnavailable: template.maxUnavailable,
      // A pod that is not ready serves no checks and must not block the drain of a node.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    },
  };
}
