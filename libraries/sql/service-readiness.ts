import type { Logger } from '#kit/log/logger';
import type { Database } from './connect.ts';
import { type WatchedSchema, watchTables } from './watch-tables.ts';

type ServiceReadiness = AsyncDisposable & {
  /** The reasons why the process is not ready; empty if it is ready. */
  problems(): Promise<readonly string[]>;
  /** Whether the database had all tables when it last answered. */
  isComplete(): boolean;
  /** The process is shutting down. */
  withdraw(): void;
};

type OwnTables = {
  /** Name of the service and of its schema. */
  readonly service: string;
  /** Schemas that the service reads, with the folders of their migrations. */
  readonly schemas: readonly WatchedSchema[];
  readonly logger: Logger;
  /** Time between two looks for lost tables, milliseconds. */
  readonly everyMs?: number | undefined;
};

/** Readiness of a service that depends only on its database, with every table of its schemas. */
export function openServiceReadiness(database: Database, options: OwnTables): ServiceReadiness {
  const { service, schemas, logger, everyMs } = options;
  let isWithdrawn = false;
  const tables = watchTables(database, {
    schemas,
    ...(everyMs === undefined ? {} : { everyMs }),
    onChange: (missing) => reportMissingTables(service, missing, logger),
  });
  const isComplete = (): boolean => tables.missing().length === 0;
  return {
    async problems() {
      if (isWithdrawn) return ['this process is shutting down'];
      const answers = await database.sql`select 1`.then(
        () => true,
        () => false,
      );
      if (!answers) return ['the database does not answer'];
      return isComplete() ? [] : ['the database lacks tables'];
    },
    isComplete,
    withdraw() {
      isWithdrawn = true;
    },
    [Symbol.asyncDispose]: () => tables[Symbol.asyncDispose](),
  };
}

/**
 * Ends the process if the database was emptied: the next start creates the schema. A database that lacks some tables is
 * not changed, for a restore: this replica is not ready, and the log names the tables.
 */
export function reportMissingTables(service: string, missing: readonly string[], logger: Logger): void {
  if (!missing.includes(`${service}.migrations`)) {
    if (missing.length === 0) logger.info('database_complete');
    else logger.error('database_incomplete', { tables: missing.join(' ') });
    return;
  }
  logger.error('database_emptied');
  queueMicrotask(() => {
    throw new Error('the database is empty');
  });
}
