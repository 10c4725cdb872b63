import { openControlPlane, startControlPlane } from '../../hack/cluster/control-plane.ts';
import { holdLock } from '../../hack/cluster/lock.ts';
import { readRecord } from '../../hack/cluster/record.ts';
import { sharedNodesName } from '../kube/end-shared-api-server.ts';
import { type ApiServer, connectApiServer } from '../kube/open-api-server.ts';

const nodes = 10;

/**
 * An API server with simulated nodes that the management test files of one run share, each in its own namespace. The
 * first file starts it, the global teardown ends it; disposing ends the clients of the file.
 */
export async function openSharedCluster(): Promise<ApiServer> {
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
