import { builtinKinds } from '#kube/client/builtin-kinds';
import type { EndpointSlice, Pod } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import type { Stored } from '#resources/metadata';
import { workloadLabels } from '../../operator/workloads/resources/workload-labels.ts';

/**
 * Acts as the endpoint controller: the Service of the workload sends requests to these pods. The real controller leaves
 * out pods without a node, and this cluster has no node.
 */
export async function setEndpoints(client: KubeClient, workload: string, pods: readonly Stored<Pod>[]): Promise<void> {
  const name = `${workload}-played`;
  const kind = builtinKinds.endpointSlice;
  const endpoints = pods.map(({ metadata: { name: pod, uid } }) => ({
    addresses: ['10.244.0.1'],
    conditions: { ready: true },
    targetRef: { kind: 'Pod', name: pod, namespace: client.namespace, uid },
  }));
  const metadata = { name, labels: { ...workloadLabels(workload, {}), 'kubernetes.io/service-name': workload } };
  try {
    await client.create<EndpointSlice>(kind, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata,
      addressType: 'IPv4',
      endpoints,
    });
  } catch (error) {
    if (!isKubeError(error, 'already_exists')) throw error;
    await client.patch(kind, name, [{ op: 'add', path: '/endpoints', value: endpoints }]);
  }
}
