import { createDatabase, startTestServer, type TestDatabase } from './test-server.ts';

/** The environment variable with the address at which a run of vitest returns the address of its PostgreSQL. */
export const sharedServerVariable = 'PORTCULLIS_SHARED_POSTGRES';

/** A server for databases of tests that neither stop it nor change its settings. */
export type DatabaseServer = AsyncDisposable & { createDatabase(): Promise<TestDatabase> };

/**
 * The server that all files of one run of vitest share; outside of such a run, a new server that belongs to the caller.
 */
export async function openSharedServer(): Promise<DatabaseServer> {
  const address = process.env[sharedServerVariable];
  if (address === undefined) return startTestServer();
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`The shared PostgreSQL did not start: ${await answer.text()}`);
  const { url, passwordFile } = (await answer.json()) as { readonly url: string; readonly passwordFile: string };
  return { createDatabase: () => createDatabase(url, passwordFile), async [Symbol.asyncDispose]() {} };
}
