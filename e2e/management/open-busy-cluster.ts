import { join } from 'node:path';
import { kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import { startScaleGateway } from '../scale/gateway-pod.ts';
import { openScaleWorld, type ScaleWorld } from '../scale/open-scale-world.ts';
import { startOperator } from '../scale/operator-process.ts';
import { actions } from './actions.ts';
import { grantManagement } from './grant-management.ts';
import type { BusyWorld } from './open-busy-world.ts';
import { type ManagementProcessOptions, startManagementReplicas } from './start-management.ts';

const gateways = ['gateway-0', 'gateway-1'] as const;

/** Settings of the API for a cluster, with an account that has only its rights. */
export async function besideCluster(cluster: ScaleWorld): Promise<ManagementProcessOptions> {
  const { server, client, folder } = cluster;
  const tokenFile = join(folder, 'management.token');
  await grantManagement(server, client.namespace, tokenFile);
  const { url: apiUrl, caFile } = server.controlPlane;
  return { apiUrl, tokenFile, caFile, namespace: client.namespace, environmentDirectory: join(folder, 'environment') };
}

/**
 * The management API as processes on a real API server, with a real operator and real gateways; workloads are
 * Deployments on simulated nodes, and one process answers for all of them.
 */
export async function openBusyCluster(options: { readonly replicas: number }): Promise<BusyWorld> {
  await using parts = new AsyncDisposableStack();
  const cluster = parts.use(await openScaleWorld());
  const [beside] = await Promise.all([
    besideCluster(cluster),
    ...gateways.map(async (name) => parts.use(await startScaleGateway(cluster, name))),
    startOperator(cluster, 'operator-0').then((operator) => parts.use(operator)),
  ]);
  const api = parts.use(await startManagementReplicas({ ...beside, ...options }));
  const { client, server } = cluster;
  const owned = parts.move();
  return {
    client,
    api,
    act: actions(api, client),
    edit: (name, description, by) => {
      const { kubeconfigFile } = server.controlPlane;
      return editByKubectl([`--namespace=${client.namespace}`], kubeconfigFile, { name, description, by });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type Edit = { readonly name: string; readonly description: string; readonly by: 'patch' | 'apply' };

/** Edits as a user makes them with kubectl, without ETags. */
async function editByKubectl(scope: readonly string[], kubeconfig: string, { name, description, by }: Edit) {
  const spec = { description };
  if (by === 'patch') {
    const patch = `--patch=${JSON.stringify({ spec })}`;
    await kubectlOk(kubeconfig, [...scope, 'patch', 'guardrailpolicy', name, '--type=merge', patch]);
    return;
  }
  const object = { apiVersion: 'portcullis.dev/v1alpha1', kind: 'GuardrailPolicy', metadata: { name }, spec };
  const apply = [...scope, 'apply', '--server-side', '--force-conflicts', '--filename=-'];
  await kubectlOk(kubeconfig, apply, JSON.stringify(object));
}
