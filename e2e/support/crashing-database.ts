import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unusedPort } from '#kit/testing/loopback';
import { preparedFolder } from '#sql/testing/prepared-folder';
import { startTestServer, type TestServer } from '#sql/testing/test-server';

/** A PostgreSQL server that is killed as in a power failure and restarts on its data at the same address. */
type CrashingDatabase = AsyncDisposable & {
  readonly url: string;
  readonly passwordFile: string;
  /** Ends the server with SIGKILL. */
  kill(): Promise<void>;
  /** Starts the killed server again. */
  restart(): Promise<void>;
};

/** @param folder an empty folder for the data */
export async function startCrashingDatabase(folder: string): Promise<CrashingDatabase> {
  // -a keeps the owners: PostgreSQL refuses a folder of another user.
  await promisify(execFile)('cp', ['-a', `${await preparedFolder()}/.`, folder]);
  let server: TestServer = await startTestServer({ folder, listen: `127.0.0.1:${await unusedPort()}` });
  const { passwordFile } = server;
  const { url } = server.process;
  return {
    url,
    passwordFile,
    async kill() {
      const file = join(folder, 'postgres/data/postmaster.pid');
      process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGKILL');
      await server.process.exit();
    },
    async restart() {
      server = await startTestServer({ folder, listen: new URL(url).host });
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
