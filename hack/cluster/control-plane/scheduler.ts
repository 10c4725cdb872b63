import { join } from 'node:path';
import { answersOk } from '../process/ask.ts';
import type { ComponentPlan } from '../process/component.ts';
import type { IdentityFiles } from './identity-files.ts';
import { writeKubeconfig } from './kubeconfig.ts';

type SchedulerOptions = {
  readonly program: string;
  readonly identities: IdentityFiles;
  readonly apiServerUrl: string;
  readonly address: string;
  readonly port: number;
};

export function schedulerPlan({ program, identities, apiServerUrl, address, port }: SchedulerOptions): ComponentPlan {
  const user = 'system:kube-scheduler';
  const kubeconfig = join(identities.folder, 'scheduler.kubeconfig');
  return {
    name: 'kube-scheduler',
    command: program,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--bind-address=${address}`,
      `--secure-port=${port}`,
      `--tls-cert-file=${identities.serverFile}`,
      `--tls-private-key-file=${identities.serverKeyFile}`,
      '--leader-elect=false',
      '--profiling=false',
    ],
    prepare: () => {
      const client = identities.client('scheduler', { commonName: user });
      writeKubeconfig(kubeconfig, { name: 'local', url: apiServerUrl, user }, client);
    },
    isReady: () => answersOk(`https://${address}:${port}/healthz`, identities.admin),
    readyWithinMs: 60_000,
  };
}
