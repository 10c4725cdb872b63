import { createVerifier } from '#identity/create-verifier';
import { readIssuersFile } from '#identity/issuers-file';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { openRelations, type RelationsChoice } from '#relations/adapters/open-relations';
import { grantAdministrators, readAdministrators } from '#relations/administrators';
import type { Database } from '#sql/connect';
import { type AdministratorAuthorizer, createAdministratorAuthorizer } from './authorize-administrators.ts';

type AccessSettings = {
  readonly issuersFile: string;
  /** The first administrators, each as `issuer|subject`. */
  readonly administrators: readonly string[];
  readonly relations: RelationsChoice;
};

/**
 * Opens the dependencies of authorization: the issuers of the file, and the store of permissions, which is disposed
 * with `parts`. @throws ConfigError, RelationsUnavailableError, MigrationError
 */
export async function openAccess(
  settings: AccessSettings,
  parts: AsyncDisposableStack,
  tools: {
    readonly database: Database;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly onKeysUnavailable: (issuer: string) => void;
    readonly openFgaTokenFile: string | undefined;
  },
): Promise<AdministratorAuthorizer> {
  const { logger, onKeysUnavailable, clock, database } = tools;
  const administrators = readAdministrators(settings.administrators);
  const issuers = await readIssuersFile(settings.issuersFile);
  if (issuers.length === 0) logger.warn('no_issuer_trusted', { file: settings.issuersFile });
  const verifier = createVerifier({
    issuers,
    clock,
    onUnavailable: (issuer) => {
      logger.warn('keys_unavailable', { issuer });
      onKeysUnavailable(issuer);
    },
  });
  const relations = parts.use(await openRelations(settings.relations, database, tools.openFgaTokenFile));
  await grantAdministrators(relations, administrators);
  return createAdministratorAuthorizer({ verifier, relations });
}
