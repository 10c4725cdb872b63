import type { BundleProvider } from '#contracts/bundle';
import type { WorkloadTemplate } from '../../../../environment/workload-template.ts';
import { podLabels, workloadLabels } from '../../../resources/workload-labels.ts';

/**
 * The NetworkPolicy of a workload: gateways and the operator may call its port, and its pods may call the providers of
 * its bundle and the collector of spans.
 */
export function makeNetworkPolicy(name: string, providers: readonly BundleProvider[], template: WorkloadTemplate) {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, labels: workloadLabels(name, template.labels) },
    spec: {
      podSelector: { matchLabels: podLabels(name) },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [{ podSelector: { matchLabels: template.allowFrom } }, ...template.ingress],
          ports: [{ port: template.port, protocol: 'TCP' }],
        },
      ],
      egress: egressOf(providers, template),
    },
  };
}

/** DNS, at any address, because the address of the DNS service differs between clusters. */
const nameService = {
  ports: [
    { port: 53, protocol: 'UDP' },
    { port: 53, protocol: 'TCP' },
  ],
} as const;

function egressOf(providers: readonly BundleProvider[], { egress, traces }: WorkloadTemplate) {
  const endpoints = providers.map(({ endpoint }) => endpoint);
  const rules = [
    ...(providers.length === 0 ? [] : (egress ?? [portsOf(endpoints)])),
    ...(traces === undefined ? [] : [portsOf([traces.url])]),
  ];
  return rules.length === 0 ? [] : [nameService, ...rules];
}

/** A NetworkPolicy cannot match host names, so that only the ports of the endpoints are restricted. */
function portsOf(endpoints: readonly string[]) {
  const ports = new Set(endpoints.map((endpoint) => portOf(new URL(endpoint))));
  return { ports: [...ports].toSorted((a, b) => a - b).map((port) => ({ port, protocol: 'TCP' })) };
}

function portOf(endpoint: URL): number {
  if (endpoint.port !== '') return Number(endpoint.port);
  return endpoint.protocol === 'https:' ? 443 : 80;
}
