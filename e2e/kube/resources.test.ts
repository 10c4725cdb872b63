import { describe } from 'vitest';
import { testResourceServer } from '#kube/testing/resource-suite';
import { missingApiServer, onApiServer, openApiServer } from './open-api-server.ts';

describe.skipIf(missingApiServer !== undefined)(onApiServer('resources'), () => {
  testResourceServer('kube-apiserver', async () => {
    const server = await openApiServer({ controllers: true });
    return { client: await server.client(), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  });
});
