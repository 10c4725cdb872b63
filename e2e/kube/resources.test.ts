import { describe } from 'vitest';
import { testResourceServer } from '#kube/testing/resource-suite';
import { missingApiServer, onApiServer } from './open-api-server.ts';
import { openSharedApiServer } from './shared-api-server.ts';

describe.skipIf(missingApiServer !== undefined)(onApiServer('resources'), () => {
  testResourceServer('kube-apiserver', async () => {
    const server = await openSharedApiServer();
    return { client: await server.client(), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  });
});
