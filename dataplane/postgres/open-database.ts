import { createServer } from 'node:net';
import type { HostPort } from '#kit/env/setting';
import { defaultHungAfterMs, watchAnswers } from '#kit/process/watch-answers';
import { connectSql, passwordFrom, SqlUnavailableError } from '#sql/connect';
import type { PostgresConfig } from './config.ts';
import { askServer } from './monitoring/ask-server.ts';
import type { ServerAccess } from './monitoring/readiness.ts';
import { accountOf } from './server/account.ts';
import { findBinaries } from './server/binaries.ts';
import { writeClientRules } from './server/client-rules.ts';
import { openDataFolder } from './server/data-folder.ts';
import { endOrphan } from './server/orphan.ts';
import { owner, setPassword } from './server/owner.ts';
import { reachableBinaries } from './server/reachable-binaries.ts';
import type { ServerDirectory } from './server/run-program.ts';
import { ServerError } from './server/server-error.ts';
import { type RunningServer, startServer } from './server/start-server.ts';

/** The running database. Disposing shuts the server down. */
type OpenDatabase = AsyncDisposable & {
  /** Connection URL for clients, without a password. */
  readonly url: string;
  /**
   * Connection URL for this process, with the password read at this start: the password file may change while the
   * server runs.
   */
  readonly access: ServerAccess;
};

/** Number of attempts to find a free port. Another process may take a port before the server binds it. */
const portTries = 5;

/**
 * Creates the folder if it is missing, starts the server, and creates the database and sets the password if needed.
 * @throws ServerError
 */
export async function openDatabase(config: PostgresConfig, signal: AbortSignal): Promise<OpenDatabase> {
  const account = accountOf();
  const binaries = reachableBinaries(findBinaries(), account);
  const password = passwordFrom(config.passwordFile)();
  if (password === '') throw new ServerError('wrong_password', `${config.passwordFile} is empty: write a password`);
  const data = await openDataFolder({ folder: config.folder, binaries, account, password });
  await endOrphan(data);
  writeClientRules({ data, account, servesCluster: config.servesCluster });
  signal.throwIfAborted();
  const { server, address } = await serveWithPassword({ binaries, account, data }, config, password, signal);
  let stopping = false;
  const hang = killIfHung(server, reachable(address));
  void server.ended.then(async (words) => {
    const how = (await hang) ? `did not answer for ${defaultHungAfterMs / 1_000} s and was killed` : words;
    if (!stopping) throw new ServerError('ended', `PostgreSQL ${how}`);
  });
  return {
    url: urlOf(address, owner),
    access: { url: urlOf(reachable(address), owner), password },
    [Symbol.asyncDispose]() {
      stopping = true;
      return server.stop();
    },
  };
}

/**
 * Watches the server until it has exited, even while it shuts down. A frozen server accepts connections, because the
 * system does, and never ends them.
 * @returns whether it was killed
 */
async function killIfHung(server: RunningServer, address: HostPort): Promise<boolean> {
  const over = new AbortController();
  void server.ended.then(() => over.abort());
  const hangs = await watchAnswers((signal) => askServer(address, signal), { signal: over.signal });
  if (hangs) server.kill();
  return hangs;
}

type Serving = { readonly server: RunningServer; readonly address: HostPort };

/**
 * Called if the password of the database differs from the password file: stops the server, sets the password from the
 * file, and starts the server again.
 */
async function serveWithPassword(
  directory: ServerDirectory,
  config: PostgresConfig,
  password: string,
  signal: AbortSignal,
): Promise<Serving> {
  for (let isSet = false; ; isSet = true) {
    const serving = await serve(directory, config, signal);
    const admits = await withStopOnFailure(serving.server, () => ensureDatabase(serving.address, password));
    if (admits) return serving;
    await serving.server.stop();
    signal.throwIfAborted();
    if (isSet || !(await setPassword(directory, password))) {
      const sentence = `the password in ${config.passwordFile} does not match the database and cannot be set there`;
      throw new ServerError('wrong_password', `${sentence}: put back the earlier file`);
    }
    say('postgres: the password of the database was changed to that of the file');
  }
}

async function withStopOnFailure<T>(server: RunningServer, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function serve(
  directory: ServerDirectory,
  { listen, servesCluster }: PostgresConfig,
  signal: AbortSignal,
): Promise<Serving> {
  for (let tried = 1; ; tried += 1) {
    const address = { host: listen.host, port: listen.port === 0 ? await freePort(listen.host) : listen.port };
    try {
      return { server: await startServer(directory, { address, servesCluster, say }, signal), address };
    } catch (error) {
      const isTaken = error instanceof ServerError && error.code === 'address_taken';
      if (!isTaken || listen.port !== 0 || tried >= portTries) throw error;
    }
  }
}

/** This process chooses a free port for the server, because PostgreSQL cannot. */
function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** @returns false if the password of the file is not the password of the database, so that no client could connect */
async function ensureDatabase(address: HostPort, password: string): Promise<boolean> {
  await using database = connectSql({
    url: urlOf(reachable(address), 'postgres'),
    password: () => password,
    applicationName: 'portcullis-postgres',
    max: 1,
  });
  const { sql } = database;
  try {
    const found = await sql`select from pg_database where datname = ${owner}`;
    if (found.length === 0) await sql`create database ${sql(owner)}`;
    return true;
  } catch (error) {
    if (error instanceof SqlUnavailableError && error.reason === '28P01') return false;
    throw error;
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Replaces a wildcard address by loopback, because no client can connect to a wildcard address. */
function reachable({ host, port }: HostPort): HostPort {
  if (host === '0.0.0.0') return { host: '127.0.0.1', port };
  return host === '::' ? { host: '::1', port } : { host, port };
}

function urlOf({ host, port }: HostPort, database: string): string {
  return `postgres://${owner}@${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}
