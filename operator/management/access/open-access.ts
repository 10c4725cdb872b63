import { openIssuersVerifier } from '#identity/open-issuers-verifier';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { openRelations, type RelationsChoice } from '#relations/adapters/open-relations';
import type { Relations } from '#relations/ports';
import type { Database } from '#sql/connect';
import { type AdministratorAuthorizer, createAdministratorAuthorizer } from './authorize-administrators.ts';
import { createBreakGlass } from './break-glass.ts';
import { createSubjectLimiter } from './limit-subjects.ts';
import type { AccessRules } from './required-right.ts';
import { createRights, type Rights } from './rights.ts';

type AccessSettings = {
  readonly issuersFile: string;
  readonly relations: RelationsChoice;
  /** Maximum number of requests of one subject in a minute. */
  readonly requestsPerMinute: number;
};

export type ManagementAccess = {
  readonly authorizer: AdministratorAuthorizer;
  readonly rights: Rights;
  readonly relations: Pick<
    Relations,
    'grant' | 'revoke' | 'tuplesOf' | 'listTuples' | 'groupsOf' | 'joinsTransactions'
  >;
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
    readonly onBreakGlass: () => void;
    readonly openFgaTokenFile: string | undefined;
    readonly breakGlassFile: string | undefined;
    readonly rules: AccessRules;
  },
): Promise<ManagementAccess> {
  const { logger, onKeysUnavailable, onBreakGlass, clock, database, rules } = tools;
  const { verifier } = await openIssuersVerifier(settings.issuersFile, {
    logger,
    clock,
    onUnavailable: onKeysUnavailable,
  });
  const relations = parts.use(await openRelations(settings.relations, database, tools.openFgaTokenFile));
  const breakGlass = createBreakGlass(tools.breakGlassFile, rules.emergencyOperations, (used) => {
    logger.error('break_glass_used', used);
    onBreakGlass();
  });
  const rights = createRights(relations);
  const limiter = createSubjectLimiter(settings.requestsPerMinute, clock.now);
  const authorizer = createAdministratorAuthorizer({ verifier, rights, rules, breakGlass, limiter });
  return { authorizer, rights, relations };
}
