import type { AgentTemplate } from '../../../../environment/agent-template.ts';
import { isSdkBundle, type VersionBundle } from '../../../agent-bundle.ts';
import { policiesOf } from '../../../missing-policy.ts';
import { agentLabels, agentPodLabels, agentSelector, agentVersionAnnotation } from './agent-labels.ts';
import { agentPorts, makeAgentPod } from './agent-pod.ts';
import { makeImageNetworkPolicy } from './image-network-policy.ts';
import { makeImagePod } from './image-pod.ts';

type AgentObjectsInput = {
  readonly name: string;
  /** Name of the AgentVersion. */
  readonly resource: string;
  readonly bundle: VersionBundle;
};

/**
 * The Deployment of a version. The Deployment has one pod, because tasks, sessions and used tokens are in the memory of
 * the process, and the next pod starts when the previous one has ended.
 */
export function makeAgentDeployment({ name, resource, bundle }: AgentObjectsInput, template: AgentTemplate) {
  const { digest, limits } = bundle;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name,
      labels: agentLabels(name, template.labels),
      annotations: { [agentVersionAnnotation]: resource },
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: agentSelector(name) },
      strategy: { type: 'Recreate' },
      revisionHistoryLimit: 1,
      template: isSdkBundle(bundle)
        ? makeImagePod(name, bundle, template)
        : makeAgentPod({ name, digest, policies: policiesOf(bundle), concurrency: limits.concurrency }, template),
    },
  };
}

/** The Service of a version, whose address gateways call. */
export function makeAgentService(name: string, template: AgentTemplate) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, labels: agentLabels(name, template.labels) },
    spec: {
      type: 'ClusterIP',
      selector: agentSelector(name),
      ports: [{ name: 'http', port: agentPorts.http, targetPort: 'http', protocol: 'TCP', appProtocol: 'http' }],
    },
  };
}

/**
 * The NetworkPolicy of a version: gateways call it, the operator reads its card and state, and monitoring reads its
 * metrics. The process may call gateways, runtimes, the services of the platform, the file service and the collector of
 * spans only.
 */
export function makeAgentNetworkPolicy({ name, bundle }: Omit<AgentObjectsInput, 'resource'>, template: AgentTemplate) {
  if (isSdkBundle(bundle)) return makeImageNetworkPolicy(name, template);
  const { gatewayPods, operatorPods, monitoring, fileService, traces } = template;
  const services = [template.retrieval, template.memory].filter((one) => one !== undefined);
  const http = { port: 'http', protocol: 'TCP' };
  const admin = { port: 'admin', protocol: 'TCP' };
  const readers = [{ podSelector: { matchLabels: operatorPods } }];
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, labels: agentLabels(name, template.labels) },
    spec: {
      podSelector: { matchLabels: agentSelector(name) },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        { from: [{ podSelector: { matchLabels: gatewayPods } }], ports: [http] },
        { from: readers, ports: [http, admin] },
        ...(monitoring.length === 0 ? [] : [{ from: monitoring, ports: [admin] }]),
      ],
      egress: [
        // DNS, at any address, because the address of the DNS service differs between clusters.
        {
          ports: [
            { port: 53, protocol: 'UDP' },
            { port: 53, protocol: 'TCP' },
          ],
        },
        { to: [{ podSelector: { matchLabels: gatewayPods } }], ports: [http] },
        { to: [{ podSelector: { matchLabels: runtimePods } }], ports: [http] },
        ...services.map(({ pods }) => ({ to: [{ podSelector: { matchLabels: pods } }], ports: [http] })),
        // A NetworkPolicy cannot name hosts, so it allows the ports of these addresses at any host.
        ...[fileService, traces].flatMap((one) =>
          one === undefined ? [] : [{ ports: [{ port: portOf(one.url), protocol: 'TCP' }] }],
        ),
      ],
    },
  };
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** Every workload of runtimes has these labels. */
const runtimePods = {
  ...agentPodLabels,
  'app.kubernetes.io/name': 'portcullis-runtime',
  'app.kubernetes.io/component': 'runtime',
} as const;
