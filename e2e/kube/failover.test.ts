import { afterAll, beforeAll, describe } from 'vitest';
import { testFailover } from '#kube/testing/failover-suite';
import { type ApiServer, filesOf, missingApiServer, onApiServer, openApiServer } from './open-api-server.ts';

describe.skipIf(missingApiServer !== undefined)(onApiServer('processes that compete for a lease'), () => {
  let server: ApiServer;
  beforeAll(async () => {
    server = await openApiServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  testFailover(async () => ({
    client: await server.client(),
    access: { url: server.access.url, ...filesOf(server.controlPlane) },
  }));
});
