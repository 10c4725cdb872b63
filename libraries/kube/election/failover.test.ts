import { describe, onTestFinished } from 'vitest';
import { createClient } from '../client/client.ts';
import { testFailover } from '../testing/failover-suite.ts';
import { startFakeApiServer } from '../testing/fake-api-server.ts';
import { testLeaseClient } from '../testing/lease-suite.ts';

async function open() {
  const server = await startFakeApiServer();
  const client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'team' });
  onTestFinished(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  return { client, access: { url: server.url } };
}

describe('processes that compete for a lease', () => testFailover(open));
describe('the client of an election', () => testLeaseClient(open));
