import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sharedServerVariable } from './shared-server.ts';
import { startTestServer, type TestServer } from './test-server.ts';

let broker: Server | undefined;
let server: Promise<TestServer> | undefined;

/**
 * Global setup of vitest: sends test files the address of one PostgreSQL, which is started for the first of them. A run
 * whose files need no database starts no server.
 */
export async function setup(): Promise<void> {
  broker = createServer(async (_request, response) => {
    try {
      server ??= startTestServer();
      const { process: running, passwordFile } = await server;
      response.end(JSON.stringify({ url: running.url, passwordFile }));
    } catch (error) {
      response.statusCode = 500;
      response.end(error instanceof Error ? error.message : String(error));
    }
  });
  await new Promise<void>((resolve) => broker?.listen(0, '127.0.0.1', resolve));
  process.env[sharedServerVariable] = `http://127.0.0.1:${(broker.address() as AddressInfo).port}`;
}

/** Global teardown, which vitest calls in its own process after the last test file. */
export async function teardown(): Promise<void> {
  delete process.env[sharedServerVariable];
  broker?.close();
  await (await server?.catch(() => undefined))?.[Symbol.asyncDispose]();
}
