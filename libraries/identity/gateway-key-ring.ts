import type { JWK } from 'jose';
import { type Clock, systemClock } from '#kit/time/clock';
import {
  gatewayKeyAt,
  gatewayKeySet,
  type HeldGatewayKey,
  type HeldGatewayKeys,
  readGatewayKeys,
} from './gateway-keys.ts';
import { KeyCache } from './key-cache.ts';
import { KeysError, type PublicKeys, readPublicKeys } from './public-keys.ts';

/** How long the keys of a file are used before the file is read again, milliseconds. */
const freshMs = 1_000;

/** The keys of the gateway in a mounted file, which is read again after a second. */
export type GatewayKeyRing = {
  /** The key that signs now. @throws GatewayKeysError if the file cannot be used */
  signingKey(): Promise<HeldGatewayKey>;
  /** The published keys, as JWKS. @throws GatewayKeysError if the file cannot be used */
  publicKeySet(): Promise<{ readonly keys: readonly JWK[] }>;
  /** The public parts, for verifiers in the same process. */
  readonly verifierKeys: KeyCache;
};

export function openGatewayKeyRing(file: string, clock: Clock = systemClock): GatewayKeyRing {
  let held: { readonly keys: Promise<HeldGatewayKeys>; readonly at: number } | undefined;

  function current(): Promise<HeldGatewayKeys> {
    const now = clock.now();
    if (held !== undefined && now - held.at < freshMs) return held.keys;
    held = { keys: readGatewayKeys(file), at: now };
    held.keys.catch(() => undefined);
    return held.keys;
  }

  async function publicKeySet(): Promise<{ readonly keys: readonly JWK[] }> {
    return gatewayKeySet(await current(), clock.date());
  }

  const load = async (): Promise<PublicKeys> => {
    const set = await publicKeySet().catch((cause: unknown) => {
      throw new KeysError('the keys of the gateway cannot be read', cause);
    });
    return readPublicKeys(Buffer.from(JSON.stringify(set)), 'the file of keys of the gateway');
  };
  return {
    signingKey: async () => gatewayKeyAt(await current(), clock.date()),
    publicKeySet,
    verifierKeys: new KeyCache({ load, clock, freshMs, usableMs: freshMs, unknownMs: freshMs, failedMs: freshMs }),
  };
}
