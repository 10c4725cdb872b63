import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { z } from 'zod';
import { writeAtomic } from '#kit/files/write-atomic';
import { type GatewayKey, gatewayTokenLimits } from './gateway-token.ts';

/** Maximum number of keys in one file. */
const mostKeys = 8;
/** Largest file of keys, bytes. */
const maxFileBytes = 65_536;

const fileSchema = z.strictObject({
  keys: z
    .array(
      z.strictObject({
        /** An Ed25519 private key, PKCS #8 in PEM, as `openssl genpkey -algorithm ed25519` writes it. */
        pem: z.string().max(1_024),
        /** The time from which the key signs; by default the creation of the file. */
        signsFrom: z.iso.datetime().optional(),
        /** The time until which the key signs; by default the time from which another key signs. */
        signsUntil: z.iso.datetime().optional(),
      }),
    )
    .min(1)
    .max(mostKeys),
});
type StoredKey = z.infer<typeof fileSchema>['keys'][number];

/** A private key of the gateway with its public part and the period in which it signs. */
export type HeldGatewayKey = GatewayKey & {
  readonly jwk: JWK;
  readonly signsFrom: Date | undefined;
  readonly signsUntil: Date | undefined;
};
export type HeldGatewayKeys = readonly [HeldGatewayKey, ...HeldGatewayKey[]];

/** A file has no keys of the gateway. The message names the file, not its content. */
export class GatewayKeysError extends Error {
  readonly code = 'gateway_keys';

  constructor(path: string, cause: unknown) {
    super(`${path} holds no keys of the gateway: it must be JSON with a list keys of Ed25519 keys in PEM`, { cause });
    this.name = 'GatewayKeysError';
  }
}

/**
 * The keys of a file, the newest first. The id of a key is its thumbprint (RFC 7638), so that all replicas and all
 * processes that read the file use the same id.
 * @throws GatewayKeysError
 */
export async function readGatewayKeys(path: string): Promise<HeldGatewayKeys> {
  try {
    const stored = await readStored(path);
    const keys = await Promise.all(stored.map(holdKey));
    return keys as unknown as HeldGatewayKeys;
  } catch (cause) {
    throw cause instanceof GatewayKeysError ? cause : new GatewayKeysError(path, cause);
  }
}

/** If the file is missing, creates it with one new key, readable by its owner only. @throws GatewayKeysError */
export async function ensureGatewayKeys(path: string): Promise<void> {
  const isMissing = await readFile(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
  if (isMissing) await writeKeys(path, [{ pem: createPem() }]);
  else await readStored(path);
}

/** The key that signs at a given time: the newest key that has been published long enough. */
export function gatewayKeyAt(keys: HeldGatewayKeys, now: Date): HeldGatewayKey {
  return keys.find(({ signsFrom }) => signsFrom === undefined || signsFrom <= now) ?? keys.at(-1) ?? keys[0];
}

/** The public parts of the keys whose tokens can be valid, now or later, as JWKS (RFC 7517). */
export function gatewayKeySet(keys: HeldGatewayKeys, now: Date): { readonly keys: readonly JWK[] } {
  return { keys: keys.filter(({ signsUntil }) => mayHaveTokens(signsUntil, now)).map(({ jwk }) => jwk) };
}

function mayHaveTokens(signsUntil: Date | undefined, now: Date): boolean {
  const longestMs = (gatewayTokenLimits.grantSeconds + gatewayTokenLimits.skewSeconds) * 1_000;
  return signsUntil === undefined || signsUntil.getTime() + longestMs > now.getTime();
}

async function readStored(path: string): Promise<readonly StoredKey[]> {
  try {
    const bytes = await readFile(path);
    if (bytes.length > maxFileBytes) throw new RangeError(`the file is larger than ${maxFileBytes} bytes`);
    return fileSchema.parse(JSON.parse(bytes.toString('utf8'))).keys;
  } catch (cause) {
    throw new GatewayKeysError(path, cause);
  }
}

async function holdKey({ pem, signsFrom, signsUntil }: StoredKey): Promise<HeldGatewayKey> {
  const privateKey = createPrivateKey(pem);
  const { kty, crv, x } = createPublicKey(privateKey).export({ format: 'jwk' });
  if (crv !== 'Ed25519' || kty === undefined || x === undefined) throw new TypeError('the key is not an Ed25519 key');
  const kid = await calculateJwkThumbprint({ kty, crv, x });
  return {
    kid,
    privateKey,
    jwk: { kty, crv, x, kid, alg: 'EdDSA', use: 'sig' },
    signsFrom: signsFrom === undefined ? undefined : new Date(signsFrom),
    signsUntil: signsUntil === undefined ? undefined : new Date(signsUntil),
  };
}

function createPem(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function writeKeys(path: string, keys: readonly StoredKey[]): Promise<void> {
  return writeAtomic(path, `${JSON.stringify({ keys })}\n`, { mode: 0o600 });
}
