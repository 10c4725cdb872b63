import { type JsonValue, parseStrict } from '#kit/json/parse-strict';
import { type Algorithm, algorithms, refusal, type TokenError, type TokenErrorCode, tokenLimits } from './identity.ts';

type Members = Readonly<Record<string, JsonValue>>;
/** A token whose signature is not verified yet. */
type UnverifiedToken = { readonly kind: 'token'; readonly header: Members; readonly claims: Members };

const compact = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;

/** The values that the header of a token may have. */
type ExpectedHeader = {
  /** Allowed values of `typ`, in lower case; undefined stands for an absent `typ`. */
  readonly types: ReadonlySet<string | undefined>;
  readonly algorithms: readonly Algorithm[];
};
const accessToken: ExpectedHeader = {
  types: new Set([undefined, 'jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']),
  algorithms,
};

/**
 * Reads a JWS in compact form (RFC 7515, section 7.1) strictly: canonical base64url and JSON objects without repeated
 * keys, so that every reader parses the same token from the same characters.
 */
export function readToken(token: string, expected = accessToken): UnverifiedToken | TokenError {
  if (token.length > tokenLimits.characters) return refusal('token_too_large');
  const parts = compact.exec(token);
  const header = objectOf(parts?.[1]);
  const claims = objectOf(parts?.[2]);
  if (header === undefined || claims === undefined || !isCanonical(parts?.[3])) return refusal('token_malformed');
  const fault = headerFault(header, expected);
  return fault === undefined ? { kind: 'token', header, claims } : refusal(fault);
}

function headerFault(header: Members, expected: ExpectedHeader): TokenErrorCode | undefined {
  if (!expected.algorithms.some((algorithm) => algorithm === header['alg'])) return 'algorithm_refused';
  // An extension that is not understood must be refused (RFC 7515, section 4.1.11), and this program supports none.
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) return 'critical_refused';
  const { typ, kid } = { typ: own(header, 'typ'), kid: own(header, 'kid') };
  const type = typeof typ === 'string' ? typ.toLowerCase() : typ;
  if (!((type === undefined || typeof type === 'string') && expected.types.has(type))) return 'type_refused';
  if (kid !== undefined && !(typeof kid === 'string' && kid.length <= tokenLimits.nameLength)) return 'token_malformed';
  return undefined;
}

export function kidOf({ header }: UnverifiedToken): string | undefined {
  const kid = own(header, 'kid');
  return typeof kid === 'string' ? kid : undefined;
}

/** An own member of an object: a token must not reach inherited members. */
export function own(members: Members, name: string): JsonValue | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

export function isMembers(value: JsonValue | undefined): value is { readonly [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOf(part: string | undefined): Members | undefined {
  if (part === undefined || !isCanonical(part)) return undefined;
  try {
    const value = parseStrict(Buffer.from(part, 'base64url'), { maxDepth: 16 });
    return isMembers(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The last character may have unused bits; if they were ignored, one token would have several spellings. */
function isCanonical(part: string | undefined): boolean {
  return part !== undefined && Buffer.from(part, 'base64url').toString('base64url') === part;
}
