import { afterAll, beforeAll, describe } from 'vitest';
import { testLeaseClient } from '#kube/testing/lease-suite';
import { type ApiServer, filesOf, missingApiServer, onApiServer, openApiServer } from './open-api-server.ts';

describe.skipIf(missingApiServer !== undefined)(onApiServer('the client of an election'), () => {
  let server: ApiServer;
  beforeAll(async () => {
    server = await openApiServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  testLeaseClient(async () => ({
    client: await server.client(),
    access: { url: server.access.url, ...filesOf(server.controlPlane) },
  }));
});
