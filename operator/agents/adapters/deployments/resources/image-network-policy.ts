import type { AgentTemplate } from '../../../../environment/agent-template.ts';
import { agentLabels, agentSelector } from './agent-labels.ts';

/**
 * The NetworkPolicy of the pod of an image: gateways call it and the operator reads its card. The pod may only resolve
 * names in the cluster and call gateways: its code is not trusted, and the gateway judges the texts that it sends.
 */
export function makeImageNetworkPolicy(name: string, { labels, gatewayPods, operatorPods, dnsPeers }: AgentTemplate) {
  const http = { port: 'http', protocol: 'TCP' };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, labels: agentLabels(name, labels) },
    spec: {
      podSelector: { matchLabels: agentSelector(name) },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        { from: [{ podSelector: { matchLabels: gatewayPods } }], ports: [http] },
        { from: [{ podSelector: { matchLabels: operatorPods } }], ports: [http] },
      ],
      egress: [
        {
          to: dnsPeers,
          ports: [
            { port: 53, protocol: 'UDP' },
            { port: 53, protocol: 'TCP' },
          ],
        },
        { to: [{ podSelector: { matchLabels: gatewayPods } }], ports: [http] },
      ],
    },
  };
}
