import { openTokenFile } from '#kit/http/token-file';
import type { Database } from '#sql/connect';
import type { Relations } from '../ports.ts';
import { openOpenFgaRelations } from './openfga/openfga-relations.ts';
import { openStoreRegistry } from './openfga/store-registry.ts';
import { openPostgresRelations } from './postgres/postgres-relations.ts';

/** The store of permissions that the configuration selects. */
export type RelationsChoice =
  | { readonly kind: 'postgres' }
  | { readonly kind: 'openfga'; readonly url: URL; readonly storeName: string };

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
