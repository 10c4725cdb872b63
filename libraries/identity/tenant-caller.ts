import type { ApiError } from '#api/operation';
import type { Subject } from './identity.ts';

/** The caller of a service of the data plane, for one tenant and one request. */
export type TenantCaller = {
  readonly tenant: string;
  /** The user whose rights decide about the returned objects. */
  readonly user: Subject;
  /** The agent or integration service that acts for the user: the direct caller of the act chain. */
  readonly agent: Subject | undefined;
  /** Names of groups of the tenant that the user belongs to for this request. */
  readonly groups: readonly string[];
  /** Further identities of the user; empty except in development mode. */
  readonly principals: readonly Subject[];
  /** The issuers whose users may be named as `issuer|sub` in this tenant. */
  readonly issuers: readonly string[];
};

/** `authz_unavailable`: the keys of an issuer cannot be fetched, so that no decision is possible. */
type CallerErrorCode = 'unauthorized' | 'forbidden' | 'authz_unavailable';

/** Authorizes each request separately, and never throws because of a token, a header or a network. */
export type CallerAuthorizer = {
  authorize(
    rawHeaders: readonly string[],
  ): Promise<{ readonly kind: 'caller'; readonly caller: TenantCaller } | ApiError<CallerErrorCode>>;
};
