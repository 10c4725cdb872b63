import { join } from 'node:path';
import type { IdentityFiles } from '../control-plane/identity-files.ts';
import { writeKubeconfig } from '../control-plane/kubeconfig.ts';
import { answersOk } from '../process/ask.ts';
import type { ComponentPlan } from '../process/component.ts';
import type { Space } from './space.ts';

export type SchedulerOptions = {
  readonly program: string;
  readonly within: Space;
  readonly identities: IdentityFiles;
  readonly apiServerUrl: string;
  readonly nodeAddress: string;
};

const port = 10_259;

export function schedulerPlan({
  program,
  within,
  identities,
  apiServerUrl,
  nodeAddress,
}: SchedulerOptions): ComponentPlan {
  const user = 'system:kube-scheduler';
  const kubeconfig = join(identities.folder, 'scheduler.kubeconfig');
  return {
    name: 'kube-scheduler',
    command: program,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--bind-address=${nodeAddress}`,
      `--secure-port=${port}`,
      `--tls-cert-file=${identities.serverFile}`,
      `--tls-private-key-file=${identities.serverKeyFile}`,
      '--leader-elect=false',
      '--profiling=false',
    ],
    within: within.enter,
    prepare: () => {
      const client = identities.client('scheduler', { commonName: user });
      writeKubeconfig(kubeconfig, { name: 'local', url: apiServerUrl, user }, client);
    },
    isReady: () => answersOk(`https://${nodeAddress}:${port}/healthz`, identities.admin),
    readyWithinMs: 60_000,
  };
}
