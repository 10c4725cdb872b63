import type { Logger } from '#kit/log/logger';
import { createDevelopmentAuthorizer, createHeaderAuthorizer, createTokenAuthorizer } from './authorize-callers.ts';
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
  const { mode, issuersFile } = identity;
  if (mode === 'development') logger.warn('development_identity', {});
  if (issuersFile === undefined) return createHeaderAuthorizer();
  const issuers = await readIssuersFile(issuersFile);
  if (issuers.length === 0) logger.warn('no_issuer_trusted', { file: issuersFile });
  const verifier = createVerifier({
    issuers,
    onUnavailable(issuer) {
      logger.warn('keys_unavailable', { issuer });
      onUnavailable(issuer);
    },
  });
  const create = mode === 'development' ? createDevelopmentAuthorizer : createTokenAuthorizer;
  return create({ verifier, issuers });
}
