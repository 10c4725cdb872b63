import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { componentKubeconfig } from '../control-plane/kubeconfig.ts';
import { answersOk } from '../process/ask.ts';
import type { ComponentPlan } from '../process/component.ts';
import { dnsServiceAddress } from './addresses.ts';
import { containerdSocket } from './containerd.ts';
import type { NodeProgram } from './node-program.ts';

type KubeletOptions = NodeProgram & { readonly controlGroup: string };

const healthPort = 10_248;

function configOf({ folder, identities, nodeAddress, controlGroup }: KubeletOptions): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: nodeAddress,
    healthzBindAddress: nodeAddress,
    healthzPort: healthPort,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: identities.caFile },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: identities.serverFile,
    tlsPrivateKeyFile: identities.serverKeyFile,
    clusterDomain: 'cluster.local',
    clusterDNS: [dnsServiceAddress],
    // Pods can resolve names of the cluster only.
    resolvConf: '/dev/null',
    containerRuntimeEndpoint: `unix://${containerdSocket(folder)}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${controlGroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    volumePluginDir: join(folder, 'volume-plugins'),
    podLogsDir: join(folder, 'pod-logs'),
    // Eviction by disk pressure is off: the disk is shared with the machine, and a removed image could not be pulled
    // again.
    imageGCHighThresholdPercent: 100,
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
  });
}

export function kubeletPlan(options: KubeletOptions): ComponentPlan {
  const { program, folder, within, nodeName, nodeAddress } = options;
  const configFile = join(folder, 'kubelet.yaml');
  const subject = { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] };
  const kubeconfig = componentKubeconfig(options, 'kubelet', subject);
  return {
    name: 'kubelet',
    command: program,
    args: [
      `--config=${configFile}`,
      `--kubeconfig=${kubeconfig.path}`,
      `--root-dir=${join(folder, 'kubelet')}`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${nodeAddress}`,
    ],
    within: within.enter,
    prepare: () => {
      mkdirSync(join(folder, 'kubelet'), { recursive: true });
      writeFileSync(configFile, configOf(options));
      kubeconfig.write();
    },
    isReady: () => answersOk(`http://${nodeAddress}:${healthPort}/healthz`),
    readyWithinMs: 60_000,
  };
}
