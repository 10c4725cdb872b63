import type { Logger } from '#kit/log/logger';
import { createHeaderAuthorizer, createTokenAuthorizer } from './authorize-callers.ts';
import { createVerifier } from './create-verifier.ts';
import type { IdentityMode } from './identity-settings.ts';
import { readIssuersFile } from './issuers-file.ts';
import type { CallerAuthorizer } from './tenant-caller.ts';

type AuthorizerOptions = {
  readonly logger: Logger;
  /** The keys of an issuer could not be fetched. */
  readonly onUnavailable: (issuer: string) => void;
};

/** The authorizer of a service with tenants. @throws ConfigError if the file of issuers cannot be used */
export async function openCallerAuthorizer(
  identity: IdentityMode,
  { logger, onUnavailable }: AuthorizerOptions,
): Promise<CallerAuthorizer> {
  if (identity.mode === 'development') {
    logger.warn('development_identity', {});
    return createHeaderAuthorizer();
  }
  const issuers = await readIssuersFile(identity.issuersFile);
  if (issuers.length === 0) logger.warn('no_issuer_trusted', { file: identity.issuersFile });
  const verifier = createVerifier({
    issuers,
    onUnavailable(issuer) {
      logger.warn('keys_unavailable', { issuer });
      onUnavailable(issuer);
    },
  });
  return createTokenAuthorizer({ verifier, issuers });
}
