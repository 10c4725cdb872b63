import { afterAll, beforeAll, describe } from 'vitest';
import { testFailover, testSuspendedLeader } from '#kube/testing/failover-suite';
import { testLeaseClient } from '#kube/testing/lease-suite';
import { type ApiServer, filesOf, missingApiServer, onApiServer, openApiServer } from './open-api-server.ts';

describe.skipIf(missingApiServer !== undefined)(onApiServer('leases'), () => {
  let server: ApiServer;
  beforeAll(async () => {
    server = await openApiServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());
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
