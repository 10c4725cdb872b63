import { createServer } from 'node:net';
import { connectSql, passwordFrom, SqlUnavailableError } from '#sql/connect';
import type { PostgresConfig } from './config.ts';
import { accountOf } from './server/account.ts';
import { findBinaries } from './server/binaries.ts';
import { openDataFolder, owner } from './server/data-folder.ts';
import { endOrphan } from './server/orphan.ts';
import { reachableBinaries } from './server/reachable-binaries.ts';
import type { Place } from './server/run-program.ts';
import { ServerError } from './server/server-error.ts';
import { type Address, type RunningServer, startServer } from './server/start-server.ts';

export type PostgresService = AsyncDisposable & {
  /** For PORTCULLIS_DATABASE_URL: without a password, which stands in a file. */
  readonly url: string;
};

/** How many free ports are tried: another process may take one before the server has it. */
const portTries = 5;

/**
 * The embedded PostgreSQL: makes its folder at the first start, serves one database to this machine, and ends this
 * process where the server ends by itself.
 * @throws ServerError
 */
export async function createPostgresService(config: PostgresConfig, signal: AbortSignal): Promise<PostgresService> {
  const account = accountOf();
  const binaries = reachableBinaries(findBinaries(), account);
  const password = passwordFrom(config.passwordFile);
  if (password() === '') throw new ServerError('wrong_password', `${config.passwordFile} is empty: write a password`);
  const data = await openDataFolder({ folder: config.folder, binaries, account, password: password() });
  await endOrphan(data);
  signal.throwIfAborted();
  const { server, address } = await serve({ binaries, account, data }, config, signal);
  const origin = `postgres://${owner}@${hostText(address)}:${address.port}`;
  let stopping = false;
  void server.ended.then((words) => {
    if (!stopping) throw new ServerError('ended', `PostgreSQL ${words}`);
  });
  const stop = (): Promise<void> => {
    stopping = true;
    return server.stop();
  };
  try {
    await ensureDatabase(`${origin}/postgres`, password, config.passwordFile);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `${origin}/${owner}`, [Symbol.asyncDispose]: stop };
}

async function serve(
  place: Place,
  { host, port }: PostgresConfig,
  signal: AbortSignal,
): Promise<{ readonly server: RunningServer; readonly address: Address }> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  for (let tried = 1; ; tried += 1) {
    const address = { host, port: port === 0 ? await freePort(host) : port };
    try {
      return { server: await startServer(place, address, say, signal), address };
    } catch (error) {
      const again = error instanceof ServerError && error.code === 'address_taken' && port === 0 && tried < portTries;
      if (!again) throw error;
    }
  }
}

/** PostgreSQL cannot look for a port by itself. */
function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** Proves the password too: one that does not fit would only show in every other process. */
async function ensureDatabase(url: string, password: () => string, passwordFile: string): Promise<void> {
  await using database = connectSql({ url, password, applicationName: 'portcullis-postgres', max: 1 });
  const { sql } = database;
  try {
    const found = await sql`select from pg_database where datname = ${owner}`;
    if (found.length === 0) await sql`create database ${sql(owner)}`;
  } catch (error) {
    if (!(error instanceof SqlUnavailableError) || error.reason !== '28P01') throw error;
    const sentence = `the password in ${passwordFile} is not the one of the database: put back the earlier file`;
    throw new ServerError('wrong_password', sentence, error);
  }
}

function hostText({ host }: Address): string {
  return host.includes(':') ? `[${host}]` : host;
}
