import { afterAll } from 'vitest';
import { missingPostgres, startTestServer, type TestDatabase, type TestServer } from './test-server.ts';

export { missingPostgres, startTestServer, type TestDatabase, type TestServer } from './test-server.ts';

/** The title of a suite that needs PostgreSQL; if it is missing the title contains the reason. */
export function onPostgres(title: string): string {
  return missingPostgres === undefined ? title : `${title} (${missingPostgres})`;
}

let server: Promise<TestServer> | undefined;

/** The server of this test file, started by the first call and stopped after the last test. */
export function testServer(): Promise<TestServer> {
  server ??= startTestServer();
  return server;
}

/**
 * A fresh database on the server of this test file. A suite that needs one is
 * `describe.skipIf(missingPostgres !== undefined)(onPostgres('title'), …)`.
 */
export async function openTestDatabase(): Promise<TestDatabase> {
  return (await testServer()).createDatabase();
}

afterAll(async () => {
  await (await server?.catch(() => undefined))?.[Symbol.asyncDispose]();
});
