import type { Logger } from '#kit/log/logger';
import { awaitDatabase } from './await-database.ts';
import { connectSql, type Database, passwordFrom } from './connect.ts';
import { migrate } from './migrate.ts';

type ServiceDatabase = {
  /** Name of the service and of its schema. */
  readonly service: string;
  readonly url: string;
  readonly passwordFile: string;
  /** Folder of the numbered migrations. */
  readonly migrations: URL;
  readonly logger: Logger;
  /** Ends the wait for a database that does not answer. */
  readonly signal?: AbortSignal | undefined;
};

/** How long to wait for a database that starts at the same time; shorter than the startup probe allows. */
const databaseWait = { timeoutMs: 90_000, everyMs: 250 } as const;

/**
 * The database of a service with the tables of this build.
 * @throws SqlUnavailableError when it does not answer in time, and the reason of the signal when that aborts
 */
export async function openServiceDatabase(options: ServiceDatabase): Promise<Database> {
  const { service, url, passwordFile, migrations, logger, signal } = options;
  await using parts = new AsyncDisposableStack();
  const database = parts.use(
    connectSql({ url, applicationName: `portcullis-${service}`, password: passwordFrom(passwordFile) }),
  );
  await awaitDatabase(database, {
    ...databaseWait,
    signal,
    onUnavailable: (reason) => logger.warn('database_unavailable', { reason }),
  });
  await migrate(database, { schema: service, folder: migrations });
  parts.move();
  return database;
}
