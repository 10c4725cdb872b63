import { createDevelopmentAuthorizer, createHeaderAuthorizer, createTokenAuthorizer } from './authorize-callers.ts';
import type { IdentityMode } from './identity-settings.ts';
import { openIssuersVerifier, type VerifierParts } from './open-issuers-verifier.ts';
import type { CallerAuthorizer } from './tenant-caller.ts';

/** The authorizer of a service with tenants. @throws ConfigError if the file of issuers cannot be used */
export async function openCallerAuthorizer(
  { mode, issuersFile }: IdentityMode,
  parts: VerifierParts,
): Promise<CallerAuthorizer> {
  if (mode === 'development') parts.logger.warn('development_identity', {});
  if (issuersFile === undefined) return createHeaderAuthorizer();
  const create = mode === 'development' ? createDevelopmentAuthorizer : createTokenAuthorizer;
  return create(await openIssuersVerifier(issuersFile, parts));
}
