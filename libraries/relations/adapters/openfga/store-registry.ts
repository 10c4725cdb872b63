import { type Database, SqlUnavailableError } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { RelationsUnavailableError } from '../../relations-error.ts';

/** The OpenFGA store of an installation: at any time all replicas use the same store. */
export type StoreRegistry = {
  /** The claimed store; undefined if no store was claimed. */
  find(key: string): Promise<string | undefined>;
  /**
   * Claims a store instead of the found one. Of all concurrent and late claims, exactly one is accepted.
   * @returns the store of the accepted claim
   */
  claim(key: string, storeId: string, instead: string | undefined): Promise<string>;
};

/** The schema of the registry, and its migrations. */
export const registryTables = { schema: 'openfga', folder: new URL('./migrations/', import.meta.url) } as const;

/**
 * The registry in the database of the installation. Migrates its schema first. The caller disposes the database.
 * @throws RelationsUnavailableError
 * @throws MigrationError
 */
export async function openStoreRegistry(database: Database): Promise<StoreRegistry> {
  const { sql } = database;
  await available(() => migrate(database, registryTables));
  const find = async (key: string): Promise<string | undefined> => {
    const [row] = await available(
      () => sql<{ storeId: string }[]>`select store_id as "storeId" from openfga.stores where key = ${key}`,
    );
    return row?.storeId;
  };
  return {
    find,
    async claim(key, storeId, instead) {
      await available(
        () => sql`
          insert into openfga.stores as held (key, store_id) values (${key}, ${storeId})
          on conflict (key) do update set store_id = excluded.store_id where held.store_id = ${instead ?? ''}`,
      );
      const counts = await find(key);
      if (counts === undefined) throw new RelationsUnavailableError();
      return counts;
    },
  };
}

async function available<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof SqlUnavailableError) throw new RelationsUnavailableError(error);
    throw error;
  }
}
