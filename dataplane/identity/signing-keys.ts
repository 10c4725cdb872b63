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
});
const fileSchema = z.strictObject({ keys: z.array(keySchema).min(1).max(2) });

/** A private key of the development issuer as JWK, for ES256. */
export type SigningKey = z.infer<typeof keySchema>;

/** A file of signing keys cannot be used. The message names the file, never what it holds. */
export class SigningKeysError extends Error {
  readonly code = 'signing_keys';

  constructor(path: string, cause: unknown) {
    super(`${path} holds no signing keys: move it away, and the development issuer makes new ones at its next start`, {
      cause,
    });
    this.name = 'SigningKeysError';
  }
}

/** Makes a file of one new key where there is none; for its owner only. */
export async function ensureSigningKeys(path: string): Promise<void> {
  const found = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new SigningKeysError(path, error);
  });
  if (found === undefined) await writeKeys(path, [await createKey()]);
}

/**
 * The keys of a file, the one that signs first.
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

/** Signs with a new key from now on; tokens of the one before stay valid until the next rotation. */
export async function rotateSigningKeys(path: string): Promise<void> {
  const [current] = await readSigningKeys(path);
  await writeKeys(path, [await createKey(), current]);
}

/** What others may know of the keys: a JWKS (RFC 7517). */
export function publicKeySet(keys: readonly SigningKey[]): { readonly keys: readonly JWK[] } {
  return { keys: keys.map(({ d: _secret, ...shown }) => shown) };
}

async function createKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const { x, y, d } = await exportJWK(privateKey);
  return keySchema.parse({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', kid: randomUUID(), x, y, d });
}

function writeKeys(path: string, keys: readonly SigningKey[]): Promise<void> {
  return writeAtomic(path, `${JSON.stringify({ keys })}\n`, { mode: 0o600 });
}
