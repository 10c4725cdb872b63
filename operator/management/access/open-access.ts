import { createVerifier } from '#identity/create-verifier';
import { openTokenFile } from '#kit/http/token-file';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { grantAdministrators, readAdministrators } from '#relations/administrators';
import type { Relations } from '#relations/ports';
import type { Database } from '#sql/connect';
import type { ManagementConfig } from '../config.ts';
import type { Access } from '../http/access.ts';
import type { ManagementMetrics } from '../metrics.ts';
import { createAccess } from './admit-administrators.ts';
import { readIssuersFile } from './issuers-file.ts';

/**
 * Who may call: tokens of the issuers of the file, and the right to administer as the relations say it.
 * @throws ConfigError, RelationsUnavailableError, MigrationError
 */
export async function openAccess(
  config: ManagementConfig,
  parts: AsyncDisposableStack,
  tools: {
    readonly database: Database;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly metrics: Pick<ManagementMetrics, 'keysUnavailable'>;
    readonly openFgaTokenFile: string | undefined;
  },
): Promise<Access> {
  const { logger, metrics, clock, database } = tools;
  const administrators = readAdministrators(config.administrators);
  const issuers = await readIssuersFile(config.issuersFile);
  if (issuers.length === 0) logger.warn('no_issuer_trusted', { file: config.issuersFile });
  const verifier = createVerifier({
    issuers,
    clock,
    onUnavailable: (issuer) => {
      logger.warn('keys_unavailable', { issuer });
      metrics.keysUnavailable(issuer);
    },
  });
  const relations = parts.use(await openRelations(config, database, tools.openFgaTokenFile));
  await grantAdministrators(relations, administrators);
  return createAccess({ verifier, relations });
}

async function openRelations(
  { relations }: ManagementConfig,
  database: Database,
  tokenFile: string | undefined,
): Promise<Relations> {
  switch (relations.kind) {
    case 'postgres':
      return openPostgresRelations(database);
    case 'openfga':
      return openOpenFgaRelations({
        ...relations,
        stores: await openStoreRegistry(database),
        ...(tokenFile === undefined ? {} : { tokenFile: openTokenFile(tokenFile) }),
      });
  }
}
