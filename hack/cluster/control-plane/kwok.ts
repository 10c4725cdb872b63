import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answersOk } from '../process/ask.ts';
import type { ComponentPlan } from '../process/component.ts';
import type { ControllerOptions } from './controllers.ts';
import { writeKubeconfig } from './kubeconfig.ts';

const stages = fileURLToPath(new URL('./kwok-stages.yaml', import.meta.url));
/** Nodes renew their leases, so that the node lifecycle controller keeps them ready. */
const leaseSeconds = 40;

/** Simulates nodes: kwok marks nodes and pods as ready, but runs no containers. */
export function kwokPlan({ program, identities, apiServerUrl, address, port }: ControllerOptions): ComponentPlan {
  const kubeconfig = join(identities.folder, 'kwok.kubeconfig');
  return {
    name: 'kwok',
    command: program,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--config=${stages}`,
      '--manage-all-nodes=true',
      `--node-lease-duration-seconds=${leaseSeconds}`,
      `--server-address=${address}:${port}`,
    ],
    prepare: () => writeKubeconfig(kubeconfig, { name: 'local', url: apiServerUrl, user: 'admin' }, identities.admin),
    isReady: () => answersOk(`http://${address}:${port}/readyz`),
    readyWithinMs: 30_000,
  };
}

/** A list of the given number of nodes; kwok makes them ready. */
export function pretendedNodes(count: number): object {
  const items = Array.from({ length: count }, (_none, at) => {
    const name = `pretended-${at + 1}`;
    return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { 'kubernetes.io/hostname': name } } };
  });
  return { apiVersion: 'v1', kind: 'List', items };
}
