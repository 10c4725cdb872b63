/** The subject of a token. Equal names of two issuers are two subjects. */
export type Subject = { readonly issuer: string; readonly subject: string };

/** The caller, proved by a signature. */
export type Identity = Subject & {
  readonly kind: 'identity';
  /** The act chain (RFC 8693, section 4.1), the direct caller first. */
  readonly actors: readonly Subject[];
  /** The expected audience; the token may contain other audiences. */
  readonly audience: string;
  readonly expiresAt: Date;
  /** The groups in the claim that is configured for the issuer; empty without such a claim. */
  readonly groups: readonly string[];
  /** The tenants that the configuration or the configured claim of the issuer defines; empty without both. */
  readonly tenants: readonly string[];
  /** The earliest `exp` of an actor. RFC 8693 gives it no meaning; a service that fails closed may refuse it. */
  readonly actorsExpireAt?: Date;
  /** The id of the token, from the claim `jti`. */
  readonly tokenId?: string;
};

/** Why a token is refused. 401: the token is invalid; 503: the token could not be verified. */
const tokenErrors = {
  token_missing: { status: 401, meaning: 'The request carries no bearer token.' },
  token_duplicate: { status: 401, meaning: 'The request carries more than one Authorization header.' },
  token_malformed: {
    status: 401,
    meaning: 'The token is not a JWT: three parts of base64url, JSON objects without repeated keys.',
  },
  token_too_large: { status: 401, meaning: 'The token is longer than 8192 characters.' },
  algorithm_refused: { status: 401, meaning: 'The token is signed with another algorithm than RS256, ES256 or EdDSA.' },
  type_refused: { status: 401, meaning: 'The typ header is not that of an access token.' },
  critical_refused: { status: 401, meaning: 'The crit header requires an extension.' },
  issuer_unknown: { status: 401, meaning: 'The issuer of the token is not trusted.' },
  key_unknown: { status: 401, meaning: 'The issuer publishes no key that matches the token.' },
  signature_wrong: { status: 401, meaning: 'The signature does not match the key of the token.' },
  audience_wrong: { status: 401, meaning: 'The token has another audience.' },
  expired: { status: 401, meaning: 'The token has expired.' },
  not_yet_valid: { status: 401, meaning: 'The token is not valid yet, by nbf or iat.' },
  claims_invalid: { status: 401, meaning: 'A claim is missing or does not have the form of RFC 7519.' },
  actors_too_many: { status: 401, meaning: 'The chain of act is longer than 4.' },
  groups_too_many: { status: 401, meaning: 'The token names more than 100 groups or tenants.' },
  too_old: {
    status: 401,
    meaning: 'The token was issued longer ago than the issuer is trusted for, or does not say when.',
  },
  party_refused: { status: 401, meaning: 'The token was issued to a client that is not among the authorized parties.' },
  scope_missing: { status: 401, meaning: 'The token lacks the scope that is required of its issuer.' },
  identity_unavailable: { status: 503, meaning: 'The keys of the issuer cannot be fetched.' },
} as const satisfies Record<string, { readonly status: 401 | 503; readonly meaning: string }>;

export type TokenErrorCode = keyof typeof tokenErrors;
export type TokenError = { readonly kind: 'refusal'; readonly code: TokenErrorCode; readonly status: 401 | 503 };

export function refusal(code: TokenErrorCode): TokenError {
  return { kind: 'refusal', code, status: tokenErrorStatus(code) };
}

export function tokenErrorStatus(code: TokenErrorCode): 401 | 503 {
  return tokenErrors[code].status;
}

/** Limits of a token. */
export const tokenLimits = {
  characters: 8_192,
  /**
   * Maximum length of a subject, an issuer, an audience or an id, in UTF-16 units (OpenID Connect Core 1.0, section 2:
   * `sub`).
   */
  nameLength: 255,
  actors: 4,
  /** Groups of a token, and tenants of a token. */
  groups: 100,
  /** Largest clock skew between issuer and verifier, seconds. */
  skewSeconds: 30,
} as const;

export const algorithms = ['RS256', 'ES256', 'EdDSA'] as const;
export type Algorithm = (typeof algorithms)[number];
