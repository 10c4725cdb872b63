import { join } from 'node:path';
import { answersOk } from '../process/ask.ts';
import type { ComponentPlan } from '../process/component.ts';
import type { IdentityFiles } from './identity-files.ts';
import { writeKubeconfig } from './kubeconfig.ts';

type ControllerManagerOptions = {
  readonly program: string;
  readonly folder: string;
  readonly identities: IdentityFiles;
  readonly apiServerUrl: string;
  readonly address: string;
  readonly port: number;
  readonly flags: readonly string[];
};

/** The built-in controllers: garbage collection by owners, Deployments, namespaces that end, and so on. */
export function controllerManagerPlan(options: ControllerManagerOptions): ComponentPlan {
  const { program, folder, identities, apiServerUrl, address, port, flags } = options;
  const user = 'system:kube-controller-manager';
  const kubeconfig = join(folder, 'pki', 'controller-manager.kubeconfig');
  return {
    name: 'kube-controller-manager',
    command: program,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--bind-address=${address}`,
      `--secure-port=${port}`,
      `--tls-cert-file=${identities.serverFile}`,
      `--tls-private-key-file=${identities.serverKeyFile}`,
      `--root-ca-file=${identities.caFile}`,
      `--service-account-private-key-file=${identities.serviceAccountKeyFile}`,
      '--use-service-account-credentials=true',
      '--leader-elect=false',
      '--profiling=false',
      ...flags,
    ],
    prepare: () => {
      const client = identities.client('controller-manager', { commonName: user });
      writeKubeconfig(kubeconfig, { name: 'local', url: apiServerUrl, user }, client);
    },
    isReady: () => answersOk(`https://${address}:${port}/healthz`, identities.admin),
    readyWithinMs: 60_000,
  };
}
