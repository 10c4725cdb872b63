import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { IdentityFiles } from '../control-plane/identity-files.ts';
import { writeKubeconfig } from '../control-plane/kubeconfig.ts';
import { answersOk } from '../process/ask.ts';
import type { ComponentPlan } from '../process/component.ts';
import { podRange } from './addresses.ts';
import type { Space } from './space.ts';

type KubeProxyOptions = {
  readonly program: string;
  readonly folder: string;
  readonly within: Space;
  readonly identities: IdentityFiles;
  readonly apiServerUrl: string;
  readonly nodeName: string;
  readonly nodeAddress: string;
};

const healthPort = 10_256;

/** Services by rules of the packet filter, in the network of the cluster alone. */
export function kubeProxyPlan(options: KubeProxyOptions): ComponentPlan {
  const { program, folder, within, identities, apiServerUrl, nodeName, nodeAddress } = options;
  const user = 'system:kube-proxy';
  const configFile = join(folder, 'kube-proxy.yaml');
  const kubeconfig = join(identities.folder, 'kube-proxy.kubeconfig');
  const config = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    clientConnection: { kubeconfig },
    hostnameOverride: nodeName,
    clusterCIDR: podRange,
    healthzBindAddress: `${nodeAddress}:${healthPort}`,
    metricsBindAddress: '127.0.0.1:10249',
    nodePortAddresses: [`${nodeAddress}/32`],
    oomScoreAdj: 0,
    // The table of connections is the machine's.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
  return {
    name: 'kube-proxy',
    command: program,
    args: [`--config=${configFile}`],
    within: within.enter,
    prepare: () => {
      const client = identities.client('kube-proxy', { commonName: user });
      writeKubeconfig(kubeconfig, { name: 'local', url: apiServerUrl, user }, client);
      writeFileSync(configFile, stringify(config));
    },
    isReady: () => answersOk(`http://${nodeAddress}:${healthPort}/healthz`),
    readyWithinMs: 60_000,
  };
}
