import type { JsonValue } from '#kit/json/parse-strict';
import { type TokenErrorCode, tokenLimits } from './identity.ts';
import { own } from './read-token.ts';
import { isSecond } from './validate-claims.ts';

/** Conditions that an issuer's tokens must meet in addition to the conditions for every token. */
export type TokenConditions = {
  /** Longest time since `iat`, seconds; a token without `iat` is refused then. */
  readonly maxAgeSeconds?: number | undefined;
  /** Clients that tokens may be issued to: `azp` (OpenID Connect Core 1.0, section 2) or `client_id` (RFC 9068). */
  readonly authorizedParties?: readonly string[] | undefined;
  /** A word that `scope` (RFC 8693, section 4.2) must hold. */
  readonly scope?: string | undefined;
  /** If true, only tokens with the header at+jwt are accepted (RFC 9068, section 2.1). */
  readonly accessTokensOnly?: boolean | undefined;
};

type Members = Readonly<Record<string, JsonValue>>;

/** Claims of ID tokens (OpenID Connect Core 1.0, sections 2 and 3.3.2.11): such a token identifies the signed-in user to a client. */
const idTokenClaims = ['nonce', 'at_hash', 'c_hash'] as const;
/** Values of the claim `typ` with which issuers mark other tokens than access tokens. */
const otherTypes: ReadonlySet<JsonValue | undefined> = new Set(['ID', 'Refresh', 'Offline', 'Logout']);

/** The reason why an otherwise valid token is not accepted; undefined if it is accepted. */
export function conditionFault(
  { header, claims }: { readonly header: Members; readonly claims: Members },
  { maxAgeSeconds, authorizedParties, scope, accessTokensOnly = false }: TokenConditions,
  now: Date,
): TokenErrorCode | undefined {
  const type = own(header, 'typ');
  const isAccessToken = typeof type === 'string' && /^(application\/)?at\+jwt$/i.test(type);
  if (accessTokensOnly && !isAccessToken) return 'type_refused';
  const isOther = otherTypes.has(own(claims, 'typ')) || idTokenClaims.some((name) => Object.hasOwn(claims, name));
  if (!isAccessToken && isOther) return 'type_refused';
  if (maxAgeSeconds !== undefined) {
    const issued = own(claims, 'iat');
    if (!isSecond(issued) || now.getTime() / 1_000 >= issued + maxAgeSeconds + tokenLimits.skewSeconds)
      return 'too_old';
  }
  if (authorizedParties !== undefined) {
    const party = own(claims, 'azp') ?? own(claims, 'client_id');
    if (typeof party !== 'string' || !authorizedParties.includes(party)) return 'party_refused';
  }
  if (scope !== undefined) {
    const words = own(claims, 'scope');
    if (typeof words !== 'string' || !words.split(' ').includes(scope)) return 'scope_missing';
  }
  return undefined;
}
