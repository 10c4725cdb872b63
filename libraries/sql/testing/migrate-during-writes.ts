import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import type { Database, TransactionSql } from '../connect.ts';
import { migrate } from '../migrate.ts';

type Writes = {
  /** The number of the first file that is applied during the writes, four digits. */
  readonly from: string;
  /** Runs before the migration begins. */
  readonly first: (sql: TransactionSql) => Promise<unknown>;
  /** Runs in the same transaction once the migration waits for a lock. */
  readonly second: (sql: TransactionSql) => Promise<unknown>;
};

/**
 * Applies the migrations of a schema: those from a number on while a transaction of an earlier release writes.
 * @returns the names of the files that were applied during the writes
 * @throws SqlConflictError if the two wait for each other
 */
export async function migrateDuringWrites(
  database: Database,
  schema: string,
  migrations: URL,
  { from, first, second }: Writes,
): Promise<readonly string[]> {
  using before = temporaryFolder();
  const folder = fileURLToPath(migrations);
  for (const name of readdirSync(folder)) {
    if (name < from) cpSync(join(folder, name), join(before.path, name));
  }
  await migrate(database, { schema, folder: pathToFileURL(before.path) });
  let migrating: Promise<readonly string[]> | undefined;
  await database.sql.beginOnce(async (sql) => {
    await first(sql);
    migrating = migrate(database, { schema, folder: migrations });
    migrating.catch(() => undefined);
    await until('the migration waits for a lock', async () => {
      const waiting = await database.sql`
        select from pg_locks
        where not granted and database = (select oid from pg_database where datname = current_database())`;
      return waiting.length > 0;
    });
    await second(sql);
  });
  return (await migrating) ?? [];
}
