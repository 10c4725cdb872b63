import { failure } from '#api/operation';
import type { Verifier } from '#identity/create-verifier';
import type { IdentityMode } from '#identity/identity-settings';
import { openIssuersVerifier, type VerifierParts } from '#identity/open-issuers-verifier';
import { personOfHeaders, tenantOfPerson } from '#identity/person-headers';
import { readBearer } from '#identity/read-bearer';
import { headerValues } from '#kit/http/raw-headers';
import type { CatalogueAuthorizer } from './catalogue-caller.ts';

/** The authorizer of the settings. @throws ConfigError if the file of issuers cannot be used */
export async function openCatalogueAuthorizer(
  { mode, issuersFile }: IdentityMode,
  parts: VerifierParts,
): Promise<CatalogueAuthorizer> {
  if (mode === 'development') parts.logger.warn('development_identity', {});
  if (issuersFile === undefined) return byHeaders;
  const { verifier } = await openIssuersVerifier(issuersFile, parts);
  // A gateway in development mode signs for people who were not authenticated.
  const isDevelopment = (issuer: string): boolean => issuer.startsWith('development:');
  if (mode === 'production') return byToken(verifier, (issuer) => !isDevelopment(issuer));
  const agents = byToken(verifier, isDevelopment);
  return {
    authorize(rawHeaders) {
      const hasToken = headerValues(rawHeaders, 'authorization').length > 0;
      return (hasToken ? agents : byHeaders).authorize(rawHeaders);
    },
  };
}

/**
 * Identifies people by tokens of trusted issuers, and agents by tokens that name the person and the chain of actors
 * (RFC 8693): the rights of both are checked, so that a chain removes rights and never adds one
 * (`catalogue:auth:oidc-jwt`). The only headers that are read are Authorization and X-Tenant-Id.
 */
function byToken(verifier: Verifier, isPerson: (issuer: string) => boolean): CatalogueAuthorizer {
  return {
    async authorize(rawHeaders) {
      const bearer = readBearer(rawHeaders);
      if (bearer.kind === 'refusal') return failure('unauthenticated');
      const identity = await verifier.verify(bearer.token);
      if (identity.kind === 'refusal') {
        return failure(identity.status === 503 ? 'identity_unavailable' : 'unauthenticated');
      }
      const { issuer, subject, actors, actorsExpireAt } = identity;
      const isOver = actorsExpireAt !== undefined && actorsExpireAt <= new Date();
      if (isOver || !isPerson(issuer)) return failure('unauthenticated');
      const place = tenantOfPerson(rawHeaders, identity);
      if (place === undefined) return failure('forbidden');
      return { kind: 'caller', caller: { subject: { issuer, subject }, actors, ...place } };
    },
  };
}

/** Development mode, without authentication: X-User-Id, X-Tenant-Id and X-Groups name the caller. */
const byHeaders: CatalogueAuthorizer = {
  async authorize(rawHeaders) {
    const person = personOfHeaders(rawHeaders);
    return person === undefined ? failure('unauthenticated') : { kind: 'caller', caller: { ...person, actors: [] } };
  },
};
