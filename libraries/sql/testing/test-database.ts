import { afterAll } from 'vitest';
import { openSharedServer } from './shared-server.ts';
import { missingPostgres, startTestServer, type TestDatabase, type TestServer } from './test-server.ts';

export { missingPostgres, startTestServer, type TestDatabase, type TestServer } from './test-server.ts';

/** The title of a suite that needs PostgreSQL; if PostgreSQL is missing, the title contains the reason. */
export function onPostgres(title: string): string {
  return missingPostgres === undefined ? title : `${title} (${missingPostgres})`;
}

let server: Promise<TestServer> | undefined;

/** A server of this test file alone, started by the first call and stopped after the last test. */
export function testServer(): Promise<TestServer> {
  server ??= startTestServer();
  return server;
}

/**
 * A fresh database on the server that the files of a run share. A suite that needs a database is written
 * `describe.skipIf(missingPostgres !== undefined)(onPostgres('title'), …)`.
 */
export async function openTestDatabase(): Promise<TestDatabase> {
  return (await openSharedServer()).createDatabase();
}

afterAll(async () => {
  await (await server?.catch(() => undefined))?.[Symbol.asyncDispose]();
});
