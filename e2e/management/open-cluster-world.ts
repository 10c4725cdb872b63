import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Pod } from '#kube/client/builtin-types';
import { openControlPlane, startControlPlane } from '../../hack/cluster/life/start-control-plane.ts';
import { holdLock } from '../../hack/cluster/machine/lock.ts';
import { readRecord } from '../../hack/cluster/record/record.ts';
import { startFakeReplica } from '../../operator/testing/fake-replica.ts';
import { testProviders } from '../../operator/testing/start-test-operator.ts';
import { sharedNodesName } from '../kube/end-shared-api-server.ts';
import { type ApiServer, connectApiServer } from '../kube/open-api-server.ts';
import { makePod } from '../scale/gateway-pod.ts';
import { openScaleWorld } from '../scale/open-scale-world.ts';
import { startOperator } from '../scale/operator-process.ts';
import { actions } from './actions.ts';
import { keepLooking } from './keep-looking.ts';
import { besideCluster } from './open-busy-cluster.ts';
import type { ManagementWorld, WorldOptions } from './open-management-world.ts';
import { startManagementReplicas } from './start-management.ts';

const replicaName = 'gateway-1';

export type ClusterWorld = ManagementWorld & {
  /** A client with administrator rights in the cluster. */
  readonly kubeconfigFile: string;
  restartApiServer(): Promise<void>;
};

/**
 * Over a real API server, with a real operator whose workloads are Deployments on simulated nodes. The one gateway
 * replica is a pod there whose reports the test controls.
 * @param options.server a shared API server with simulated nodes, which is disposed with the world; without it a new one
 *   is started and can be restarted
 * @param options.operatorSettings further settings of the operator
 */
export async function openClusterWorld(
  options: WorldOptions & {
    readonly server?: ApiServer;
    readonly operatorSettings?: Readonly<Record<string, string>>;
  } = {},
): Promise<ClusterWorld> {
  await using parts = new AsyncDisposableStack();
  const { server: given, operatorSettings = {}, ...rest } = options;
  if (given !== undefined) parts.use(given);
  const cluster = parts.use(
    await openScaleWorld({ operatorSettings, ...(given === undefined ? {} : { server: given }) }),
  );
  const { client, folder, server } = cluster;
  await writeFile(join(folder, 'environment', 'providers.yaml'), testProviders);
  const [beside] = await Promise.all([
    besideCluster(cluster),
    startOperator(cluster, 'operator-0').then((operator) => parts.use(operator)),
    makePod(cluster, replicaName),
  ]);
  await until('the pod of the replica is running', async () => {
    const pod = await client.get<Pod>(builtinKinds.pod, replicaName);
    return pod?.status?.phase === 'Running';
  });
  const gateway: ManagementWorld['gateway'] = { attitude: 'take' };
  const replica = await startFakeReplica({ client, data: folder }, replicaName);
  parts.use(keepLooking(client, replica, () => gateway.attitude));
  const api = parts.use(await startManagementReplicas({ ...beside, ...rest }));
  const owned = parts.move();
  return {
    client,
    api,
    gateway,
    kubeconfigFile: server.controlPlane.kubeconfigFile,
    restartApiServer: () => server.controlPlane.restartApiServer(),
    environmentDirectory: beside.environmentDirectory,
    apiUrl: beside.apiUrl,
    serviceTokenFile: join(folder, 'runtime.token'),
    ...actions(api, client),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const nodes = 10;

/**
 * An API server with simulated nodes that the management test files of one run share, each in its own namespace. It is
 * started for the first file and ended by the global teardown; disposing ends the clients of the file.
 */
async function openSharedCluster(): Promise<ApiServer> {
  // Test files run in child processes of vitest.
  const name = sharedNodesName(process.ppid);
  using _lock = await holdLock(name);
  const record = readRecord(name);
  const controlPlane =
    record?.size === 'control-plane'
      ? openControlPlane(record)
      : await startControlPlane({ name, pretendedNodes: nodes, ownerPid: process.ppid });
  return connectApiServer(controlPlane);
}

/** Opens the management test world on the API server that the test files of one run share. */
export async function openSharedClusterWorld(options: WorldOptions = {}): Promise<ClusterWorld> {
  return openClusterWorld({ ...options, server: await openSharedCluster() });
}
