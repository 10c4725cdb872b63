import { openTokenFile } from '#kit/http/token-file';
import type { Database } from '#sql/connect';
import type { Relations } from '../ports.ts';
import { openOpenFgaRelations } from './openfga/openfga-relations.ts';
import { openStoreRegistry, registryTables } from './openfga/store-registry.ts';
import { openPostgresRelations, tupleTables } from './postgres/postgres-relations.ts';

/** The store of permissions that the configuration selects. */
export type RelationsChoice =
  | { readonly kind: 'postgres' }
  | { readonly kind: 'openfga'; readonly url: URL; readonly storeName: string };

/** The schema that the store has in the database of the service, and its migrations. */
export function relationTables({ kind }: RelationsChoice): { readonly schema: string; readonly folder: URL } {
  switch (kind) {
    case 'postgres':
      return tupleTables;
    case 'openfga':
      return registryTables;
  }
}

/**
 * Opens the store of permissions of a process. @throws RelationsUnavailableError, MigrationError, ConfigError
 * @param tokenFile the token for OpenFGA, read again on change
 */
export async function openRelations(
  choice: RelationsChoice,
  database: Database,
  tokenFile: string | undefined,
): Promise<Relations> {
  switch (choice.kind) {
    case 'postgres':
      return openPostgresRelations(database);
    case 'openfga':
      return openOpenFgaRelations({
        ...choice,
        stores: await openStoreRegistry(database),
        ...(tokenFile === undefined ? {} : { tokenFile: openTokenFile(tokenFile) }),
      });
  }
}
