import { type JsonValue, parseStrict } from '#kit/json/parse-strict';
import { algorithms, type Refusal, type RefusalCode, refusal, tokenLimits } from './identity.ts';

type Members = Readonly<Record<string, JsonValue>>;
/** A token whose signature nobody has looked at yet. */
export type UnprovedToken = { readonly kind: 'token'; readonly header: Members; readonly claims: Members };

const compact = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;
const types = new Set(['jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']);

/**
 * Reads a JWS in compact form (RFC 7515, section 7.1) strictly: canonical base64url, JSON objects with no key twice,
 * so that no other reader can see another token in the same characters.
 */
export function readToken(token: string): UnprovedToken | Refusal {
  if (token.length > tokenLimits.characters) return refusal('token_too_large');
  const parts = compact.exec(token);
  const header = objectOf(parts?.[1]);
  const claims = objectOf(parts?.[2]);
  if (header === undefined || claims === undefined || !isCanonical(parts?.[3])) return refusal('token_malformed');
  const fault = headerFault(header);
  return fault === undefined ? { kind: 'token', header, claims } : refusal(fault);
}

function headerFault(header: Members): RefusalCode | undefined {
  if (!algorithms.some((algorithm) => algorithm === header['alg'])) return 'algorithm_refused';
  // RFC 7515, section 4.1.11: whoever does not understand an extension must refuse, and we know none.
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) return 'critical_refused';
  const { typ, kid } = { typ: own(header, 'typ'), kid: own(header, 'kid') };
  if (typ !== undefined && !(typeof typ === 'string' && types.has(typ.toLowerCase()))) return 'type_refused';
  if (kid !== undefined && !(typeof kid === 'string' && kid.length <= tokenLimits.nameLength)) return 'token_malformed';
  return undefined;
}

/** A member of the object itself: the text of a token must not reach what every object inherits. */
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

/** The last character may carry bits that mean nothing; other values of them would be other tokens of one meaning. */
function isCanonical(part: string | undefined): boolean {
  return part !== undefined && Buffer.from(part, 'base64url').toString('base64url') === part;
}
