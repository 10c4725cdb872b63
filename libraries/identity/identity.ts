/** Who a token speaks of: subjects of two issuers are two subjects, whatever they are called. */
export type Subject = { readonly issuer: string; readonly subject: string };

/** Who calls, proved by a signature. */
export type Identity = Subject & {
  readonly kind: 'identity';
  /** Who acts for the subject (RFC 8693, section 4.1, `act`): the one that calls first, then who that one acts for. */
  readonly actors: readonly Subject[];
  /** The audience that was asked for; the token may name others beside it. */
  readonly audience: string;
  readonly expiresAt: Date;
  /** Claim `jti`. */
  readonly tokenId?: string;
};

/** Why nobody is known: every code with the status that a caller gets. 401 is the caller's fault, 503 is ours. */
export const refusals = {
  token_missing: { status: 401, meaning: 'The request carries no bearer token.' },
  token_duplicate: { status: 401, meaning: 'The request carries more than one Authorization header.' },
  token_malformed: {
    status: 401,
    meaning: 'This is no JWT: three parts of base64url, JSON objects without a key twice.',
  },
  token_too_large: { status: 401, meaning: 'The token is longer than 8192 characters.' },
  algorithm_refused: { status: 401, meaning: 'The token is signed with another algorithm than RS256, ES256 or EdDSA.' },
  type_refused: { status: 401, meaning: 'The header says that this is no access token, by typ.' },
  critical_refused: { status: 401, meaning: 'The header demands an extension, by crit.' },
  issuer_unknown: { status: 401, meaning: 'Nobody here trusts the issuer of the token.' },
  key_unknown: { status: 401, meaning: 'The issuer publishes no key that fits the token.' },
  signature_wrong: { status: 401, meaning: 'The signature is not one of the key that the token names.' },
  audience_wrong: { status: 401, meaning: 'The token is meant for another audience.' },
  expired: { status: 401, meaning: 'The token has expired.' },
  not_yet_valid: { status: 401, meaning: 'The token is not valid yet, by nbf or iat.' },
  claims_invalid: { status: 401, meaning: 'A claim is missing or has another shape than RFC 7519 gives it.' },
  actors_too_many: { status: 401, meaning: 'The chain of act is longer than 4.' },
  identity_unavailable: { status: 503, meaning: 'The keys of the issuer cannot be had now.' },
} as const satisfies Record<string, { readonly status: 401 | 503; readonly meaning: string }>;

export type RefusalCode = keyof typeof refusals;
export type Refusal = { readonly kind: 'refusal'; readonly code: RefusalCode; readonly status: 401 | 503 };

export function refusal(code: RefusalCode): Refusal {
  return { kind: 'refusal', code, status: refusals[code].status };
}

/** Limits of what a token may be. */
export const tokenLimits = {
  characters: 8_192,
  /** Of a subject, an issuer, an audience or an id, in UTF-16 units (OpenID Connect Core 1.0, section 2: `sub`). */
  nameLength: 255,
  actors: 4,
  /** How far the clocks of issuer and verifier may be apart, seconds. */
  skewSeconds: 30,
} as const;

export const algorithms = ['RS256', 'ES256', 'EdDSA'] as const;
