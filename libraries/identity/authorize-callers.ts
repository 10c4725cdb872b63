import { failure } from '#api/operation';
import { headerValues } from '#kit/http/raw-headers';
import { type Clock, systemClock } from '#kit/time/clock';
import type { TrustedIssuer, Verifier } from './create-verifier.ts';
import { tokenLimits } from './identity.ts';
import { nameList, oneName } from './identity-headers.ts';
import { isSentToThisMachine } from './is-sent-to-this-machine.ts';
import { readBearer } from './read-bearer.ts';
import type { CallerAuthorizer } from './tenant-caller.ts';

const unauthorized = failure('unauthorized' as const);

/** Begins the name of the issuer that users of a tenant have in development mode; no trusted issuer may begin so. */
const developmentPrefix = 'development:';

/** The issuer that the users and agents of a tenant have in development mode. */
export function tenantIssuer(tenant: string): string {
  return `${developmentPrefix}${tenant}`;
}

/**
 * Production mode: user, groups and agent come from the verified token only, X-Tenant-Id must name one of its tenants,
 * and X-User-Id, X-Groups, X-Principals and X-Agent-Id are not read. A token without an act chain (RFC 8693, section
 * 4.1) is refused (retrieval:error:act-chain-absent).
 * @throws Error for an issuer whose name is kept for development mode
 */
export function createTokenAuthorizer(options: TokenOptions): CallerAuthorizer {
  const issuers = namesOf(options.issuers);
  return authorizeTokens(options, {
    // A gateway in development mode signs tokens for users that were not authenticated.
    isUser: (issuer) => !issuer.startsWith(developmentPrefix),
    issuersOf: () => issuers,
  });
}

/**
 * Development mode with agents: a request without a token belongs to the person in its headers, and a request with a
 * token belongs to an agent that acts for such a person and is identified only by the token. No token names a user of
 * production mode.
 * @throws Error for an issuer whose name is kept for development mode
 */
export function createDevelopmentAuthorizer(options: TokenOptions): CallerAuthorizer {
  namesOf(options.issuers);
  const people = createHeaderAuthorizer();
  const agents = authorizeTokens(options, {
    isUser: (issuer, tenant) => issuer === tenantIssuer(tenant),
    issuersOf: (tenant) => [tenantIssuer(tenant)],
  });
  return {
    authorize(rawHeaders) {
      const hasToken = headerValues(rawHeaders, 'authorization').length > 0;
      return (hasToken ? agents : people).authorize(rawHeaders);
    },
  };
}

type TokenOptions = {
  readonly verifier: Verifier;
  readonly issuers: readonly Pick<TrustedIssuer, 'issuer'>[];
  readonly clock?: Clock;
};

/** @throws Error for an issuer whose name is kept for development mode */
function namesOf(trusted: TokenOptions['issuers']): readonly string[] {
  const issuers = trusted.map(({ issuer }) => issuer);
  if (issuers.some((issuer) => issuer.startsWith(developmentPrefix))) {
    throw new Error(`a trusted issuer begins with ${developmentPrefix}: this name is kept for development mode`);
  }
  return issuers;
}

type UserRules = {
  /** Whether a token may name a user of this issuer in the tenant. */
  readonly isUser: (issuer: string, tenant: string) => boolean;
  /** The issuers whose users may be named in the tenant. */
  readonly issuersOf: (tenant: string) => readonly string[];
};

function authorizeTokens(
  { verifier, clock = systemClock }: TokenOptions,
  { isUser, issuersOf }: UserRules,
): CallerAuthorizer {
  return {
    async authorize(rawHeaders) {
      const bearer = readBearer(rawHeaders);
      if (bearer.kind === 'refusal') return unauthorized;
      const tenant = oneName(rawHeaders, 'x-tenant-id');
      if (typeof tenant !== 'string') return unauthorized;
      const identity = await verifier.verify(bearer.token);
      if (identity.kind === 'refusal') {
        return identity.status === 503 ? failure('authz_unavailable' as const) : unauthorized;
      }
      const [agent] = identity.actors;
      if (agent === undefined) return unauthorized;
      if (identity.actorsExpireAt !== undefined && identity.actorsExpireAt <= clock.date()) return unauthorized;
      if (!isUser(identity.issuer, tenant)) return unauthorized;
      if (!identity.tenants.includes(tenant)) return failure('forbidden' as const);
      const user = { issuer: identity.issuer, subject: identity.subject };
      const { groups } = identity;
      return { kind: 'caller', caller: { tenant, user, agent, groups, principals: [], issuers: issuersOf(tenant) } };
    },
  };
}

/**
 * Development mode, without authentication: the identity comes from X-Tenant-Id, X-User-Id, X-Groups, X-Principals and
 * X-Agent-Id. Its users and agents belong to an issuer of their tenant, so that the same name is a different user in
 * each tenant and never a user of production mode. The header Authorization is not read, and a request whose host name
 * belongs to another site is refused.
 */
export function createHeaderAuthorizer(): CallerAuthorizer {
  return {
    async authorize(rawHeaders) {
      if (!isSentToThisMachine(rawHeaders)) return unauthorized;
      const tenant = oneName(rawHeaders, 'x-tenant-id');
      const user = oneName(rawHeaders, 'x-user-id');
      const agent = oneName(rawHeaders, 'x-agent-id');
      const groups = nameList(rawHeaders, 'x-groups', tokenLimits.groups);
      const principals = nameList(rawHeaders, 'x-principals', tokenLimits.groups);
      if (typeof tenant !== 'string' || typeof user !== 'string' || typeof agent === 'object') return unauthorized;
      if (!groups.ok || !principals.ok) return unauthorized;
      const issuer = tenantIssuer(tenant);
      const named = (subject: string) => ({ issuer, subject });
      return {
        kind: 'caller',
        caller: {
          tenant,
          user: named(user),
          agent: agent === undefined ? undefined : named(agent),
          groups: groups.names,
          principals: principals.names.map(named),
          issuers: [issuer],
        },
      };
    },
  };
}
