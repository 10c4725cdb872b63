import { createLocalJWKSet, type JWK } from 'jose';
import { parseStrict } from '#kit/json/parse-strict';
import { isMembers, own } from './read-token.ts';

/** The published keys of an issuer (RFC 7517) that can verify a token. */
export type PublicKeys = {
  has(kid: string): boolean;
  readonly find: ReturnType<typeof createLocalJWKSet>;
};

/** A JWKS cannot be loaded. The message names its location and repeats none of its content. */
export class KeysError extends Error {
  readonly code = 'keys_unavailable';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'KeysError';
  }
}

export const keySetLimits = { bytes: 131_072, keys: 32, rsaBits: 2_048 } as const;

/** Members of a private or symmetric key, which must not be published and is not trusted. */
const secretMembers = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];

/**
 * Reads a JWKS. Keys of other types or uses, with too few bits or with private members are ignored.
 * @throws KeysError if the bytes are not a JWKS or contain no usable key
 */
export function readPublicKeys(bytes: Uint8Array, place: string): PublicKeys {
  const keys = keysOf(bytes).filter(isUsable);
  if (keys.length === 0) throw new KeysError(`${place} holds no JWKS with a key for RS256, ES256 or EdDSA`);
  if (keys.length > keySetLimits.keys) throw new KeysError(`${place} holds more than ${keySetLimits.keys} keys`);
  const names = new Set(keys.map((key) => key.kid));
  return { has: (kid) => names.has(kid), find: createLocalJWKSet({ keys }) };
}

function keysOf(bytes: Uint8Array): readonly JWK[] {
  try {
    const set = parseStrict(bytes);
    const keys = isMembers(set) ? own(set, 'keys') : undefined;
    return Array.isArray(keys) ? keys.filter(isMembers).map((key) => key as JWK) : [];
  } catch {
    return [];
  }
}

function isUsable(key: JWK): boolean {
  if (secretMembers.some((name) => Object.hasOwn(key, name))) return false;
  if (key.use !== undefined && key.use !== 'sig') return false;
  switch (key.kty) {
    case 'RSA':
      return typeof key.n === 'string' && bitsOf(key.n) >= keySetLimits.rsaBits;
    case 'EC':
      return key.crv === 'P-256';
    case 'OKP':
      return key.crv === 'Ed25519';
    default:
      return false;
  }
}

function bitsOf(modulus: string): number {
  const bytes = Buffer.from(modulus, 'base64url');
  const first = bytes.findIndex((byte) => byte !== 0);
  if (first < 0) return 0;
  return (bytes.length - first) * 8 - Math.clz32(bytes[first] as number) + 24;
}
