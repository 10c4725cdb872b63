import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { componentKubeconfig } from '../control-plane/kubeconfig.ts';
import { answersOk } from '../process/ask.ts';
import type { ComponentPlan } from '../process/component.ts';
import { podRange } from './addresses.ts';
import type { NodeProgram } from './node-program.ts';

const healthPort = 10_256;

/** kube-proxy implements Services by rules of the packet filter, inside the cluster's network namespace only. */
export function kubeProxyPlan(options: NodeProgram): ComponentPlan {
  const { program, folder, within, nodeName, nodeAddress } = options;
  const configFile = join(folder, 'kube-proxy.yaml');
  const kubeconfig = componentKubeconfig(options, 'kube-proxy', { commonName: 'system:kube-proxy' });
  const config = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    clientConnection: { kubeconfig: kubeconfig.path },
    hostnameOverride: nodeName,
    clusterCIDR: podRange,
    healthzBindAddress: `${nodeAddress}:${healthPort}`,
    metricsBindAddress: '127.0.0.1:10249',
    nodePortAddresses: [`${nodeAddress}/32`],
    oomScoreAdj: 0,
    // kube-proxy must not change the connection table, which belongs to the machine.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
  return {
    name: 'kube-proxy',
    command: program,
    args: [`--config=${configFile}`],
    within: within.enter,
    prepare: () => {
      kubeconfig.write();
      writeFileSync(configFile, stringify(config));
    },
    isReady: () => answersOk(`http://${nodeAddress}:${healthPort}/healthz`),
    readyWithinMs: 60_000,
  };
}
