import type { WorkloadTemplate } from '../../../../environment/workload-template.ts';
import { podLabels, workloadLabels } from '../../../resources/workload-labels.ts';

/** The Service of a workload, whose address is named by routes. */
export function makeService(name: string, template: WorkloadTemplate) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, labels: workloadLabels(name, template.labels) },
    spec: {
      type: 'ClusterIP',
      selector: podLabels(name),
      ports: [{ name: 'http', port: template.port, targetPort: 'http', protocol: 'TCP', appProtocol: 'http' }],
    },
  };
}
