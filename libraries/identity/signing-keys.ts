import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { z } from 'zod';
import { writeAtomic } from '#kit/files/write-atomic';

const memberSchema = z.string().regex(/^[A-Za-z0-9_-]+$/);
const keySchema = z.strictObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  alg: z.literal('ES256'),
  use: z.literal('sig'),
  kid: z.string().min(1),
  x: memberSchema,
  y: memberSchema,
  d: memberSchema,
  /** The time from which the key signs; by default its creation. */
  signsFrom: z.iso.datetime().optional(),
  /** The time at which the next key replaces the key; absent for the newest key. */
  signsUntil: z.iso.datetime().optional(),
});
/** Maximum number of keys that are published at a time. */
const mostSigningKeys = 8;
const fileSchema = z.strictObject({ keys: z.array(keySchema).min(1).max(mostSigningKeys) });

/** Longest lifetime of a token of the development issuer, seconds: thirty days. */
export const longestTokenSeconds = 2_592_000;
/**
 * How long a new key is published before it signs, milliseconds: for an unknown key id, a verifier fetches the keys
 * again only when its own keys are 30 s old (key-cache.ts).
 */
const publishedAheadMs = 35_000;
/** Largest clock skew between issuer and verifier, milliseconds. */
const skewMs = 300_000;

/** A private key of the development issuer as JWK, for ES256. */
type SigningKey = z.infer<typeof keySchema>;

/** A file of signing keys is invalid. The message names the file, not its content. */
export class SigningKeysError extends Error {
  readonly code = 'signing_keys';

  constructor(path: string, cause: unknown) {
    super(
      `${path} holds no signing keys: move it away, and the development issuer creates new ones at its next start`,
      {
        cause,
      },
    );
    this.name = 'SigningKeysError';
  }
}

/** If the file is missing, creates it with one new key, readable by its owner only. */
export async function ensureSigningKeys(path: string): Promise<void> {
  const found = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new SigningKeysError(path, error);
  });
  if (found === undefined) await writeKeys(path, [await createKey()]);
}

/**
 * The keys of a file, the newest first.
 * @throws SigningKeysError
 */
export async function readSigningKeys(path: string): Promise<readonly [SigningKey, ...SigningKey[]]> {
  try {
    const { keys } = fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    return keys as [SigningKey, ...SigningKey[]];
  } catch (cause) {
    throw new SigningKeysError(path, cause);
  }
}

/** A rotation would publish more keys than allowed. */
export class TooManyKeysError extends Error {
  readonly code = 'too_many_keys';

  constructor() {
    super(
      `${mostSigningKeys} keys may have valid tokens: rotate again when the tokens of one have expired, or revoke them all`,
    );
    this.name = 'TooManyKeysError';
  }
}

/**
 * Creates a key, which signs after a time in which verifiers can fetch it; tokens of earlier keys stay valid until they
 * expire. With `revoke` all earlier keys are removed: the new key signs immediately, and tokens of the earlier keys
 * become invalid when verifiers fetch the keys again. @throws SigningKeysError, TooManyKeysError
 */
export async function rotateSigningKeys(
  path: string,
  { now, revoke }: { readonly now: Date; readonly revoke: boolean },
): Promise<{ readonly kid: string; readonly signsFrom: Date; readonly published: number }> {
  const held = await readSigningKeys(path);
  const signsFrom = revoke ? now : new Date(now.getTime() + publishedAheadMs);
  const until = signsFrom.toISOString();
  const kept = revoke ? [] : publishedKeys(held, now).map((key) => ({ ...key, signsUntil: key.signsUntil ?? until }));
  if (kept.length >= mostSigningKeys) throw new TooManyKeysError();
  const created = { ...(await createKey()), ...(revoke ? {} : { signsFrom: until }) };
  await writeKeys(path, [created, ...kept]);
  return { kid: created.kid, signsFrom, published: kept.length + 1 };
}

/** The keys whose tokens can still be valid: a key is dropped when its last possible token has expired. */
export function publishedKeys(keys: readonly SigningKey[], now: Date): readonly SigningKey[] {
  const longestMs = longestTokenSeconds * 1_000 + skewMs;
  return keys.filter(
    ({ signsUntil }) => signsUntil === undefined || Date.parse(signsUntil) + longestMs > now.getTime(),
  );
}

/** The key that signs: the newest key that verifiers have had time to fetch. */
export function signingKeyAt(keys: readonly [SigningKey, ...SigningKey[]], now: Date): SigningKey {
  const known = keys.find(({ signsFrom }) => signsFrom === undefined || Date.parse(signsFrom) <= now.getTime());
  return known ?? keys.at(-1) ?? keys[0];
}

/** The public parts of the keys as JWKS (RFC 7517). */
export function publicKeySet(keys: readonly SigningKey[]): { readonly keys: readonly JWK[] } {
  return { keys: keys.map(({ d: _secret, signsFrom: _from, signsUntil: _until, ...shown }) => shown) };
}

async function createKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const { x, y, d } = await exportJWK(privateKey);
  return keySchema.parse({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', kid: randomUUID(), x, y, d });
}

function writeKeys(path: string, keys: readonly SigningKey[]): Promise<void> {
  return writeAtomic(path, `${JSON.stringify({ keys })}\n`, { mode: 0o600 });
}
