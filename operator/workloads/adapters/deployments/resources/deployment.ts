import type { WorkloadTemplate } from '../../../../environment/workload-template.ts';
import type { WorkloadIdentity } from '../../../ports.ts';
import { podLabels, workloadLabels } from '../../../resources/workload-labels.ts';
import { makePodTemplate } from './pod-template.ts';

/** The Deployment of a workload without `replicas`, its only member that changes. */
export function makeDeployment(identity: WorkloadIdentity, template: WorkloadTemplate) {
  const { name } = identity;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: workloadLabels(name, template.labels) },
    spec: {
      selector: { matchLabels: podLabels(name) },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      revisionHistoryLimit: 1,
      template: makePodTemplate(identity, template),
    },
  };
}
