import { describe } from 'vitest';
import { testFailover, testSuspendedLeader } from '#kube/testing/failover-suite';
import { testLeaseClient } from '#kube/testing/lease-suite';
import { filesOf, missingApiServer, onApiServer } from './open-api-server.ts';
import { useApiServer } from './shared-api-server.ts';

describe.skipIf(missingApiServer !== undefined)(onApiServer('leases'), () => {
  const server = useApiServer();
  const open = async () => ({
    client: await server.client(),
    access: { url: server.access.url, ...filesOf(server.controlPlane) },
  });
  describe('processes that compete for a lease', () => {
    testFailover(open);
    testSuspendedLeader(open);
  });
  describe('the client of an election', () => testLeaseClient(open));
});
