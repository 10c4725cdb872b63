import { afterAll, beforeAll, describe } from 'vitest';
import { createClient } from '../client/client.ts';
import { testFailover } from '../testing/failover-suite.ts';
import { type FakeApiServer, startFakeApiServer } from '../testing/fake-api-server.ts';
import { testLeaseClient, unexpiring } from '../testing/lease-suite.ts';
import type { ElectionServer } from '../testing/start-elector.ts';

const stack = new AsyncDisposableStack();
let server: FakeApiServer;
let namespaces = 0;
beforeAll(async () => {
  server = stack.use(await startFakeApiServer());
});
afterAll(() => stack.disposeAsync());

async function open(): Promise<ElectionServer> {
  namespaces += 1;
  const namespace = `team-${namespaces}`;
  const client = stack.use(createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace }));
  return { client, access: { url: server.url } };
}

// The standard durations, and a suspended leader, are tested in e2e/kube on a real API server.
describe('processes that compete for a lease', () => testFailover(open));
describe('the client of an election', () => testLeaseClient(open, { deadConnections: unexpiring }));
