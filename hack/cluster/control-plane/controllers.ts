import { answersOk } from '../process/ask.ts';
import type { ComponentPlan } from '../process/component.ts';
import type { IdentityFiles } from './identity-files.ts';
import { componentKubeconfig } from './kubeconfig.ts';

/** The parameters of a component other than the API server, and the address of its health endpoint. */
export type ControllerOptions = {
  readonly program: string;
  readonly identities: IdentityFiles;
  readonly apiServerUrl: string;
  readonly address: string;
  readonly port: number;
};

type Controller = { readonly name: string; readonly client: string; readonly flags: readonly string[] };

function controllerPlan(options: ControllerOptions, { name, client, flags }: Controller): ComponentPlan {
  const { program, identities, address, port } = options;
  const kubeconfig = componentKubeconfig(options, client, { commonName: `system:${name}` });
  return {
    name,
    command: program,
    args: [
      `--kubeconfig=${kubeconfig.path}`,
      `--bind-address=${address}`,
      `--secure-port=${port}`,
      `--tls-cert-file=${identities.serverFile}`,
      `--tls-private-key-file=${identities.serverKeyFile}`,
      '--leader-elect=false',
      '--profiling=false',
      ...flags,
    ],
    prepare: kubeconfig.write,
    isReady: () => answersOk(`https://${address}:${port}/healthz`, identities.admin),
    readyWithinMs: 60_000,
  };
}

/** kube-controller-manager: garbage collection by owner references, Deployments, deletion of namespaces, and so on. */
export function controllerManagerPlan(options: ControllerOptions, flags: readonly string[] = []): ComponentPlan {
  const { caFile, serviceAccountKeyFile } = options.identities;
  return controllerPlan(options, {
    name: 'kube-controller-manager',
    client: 'controller-manager',
    flags: [
      `--root-ca-file=${caFile}`,
      `--service-account-private-key-file=${serviceAccountKeyFile}`,
      '--use-service-account-credentials=true',
      ...flags,
    ],
  });
}

export function schedulerPlan(options: ControllerOptions): ComponentPlan {
  return controllerPlan(options, { name: 'kube-scheduler', client: 'scheduler', flags: [] });
}
