import { compactVerify, errors } from 'jose';
import { type Clock, systemClock } from '#kit/time/clock';
import { fetchKeys, readKeysFile } from './fetch-keys.ts';
import { algorithms, type Identity, type Refusal, refusal } from './identity.ts';
import { judgeClaims } from './judge-claims.ts';
import { fetchedKeyTimes, KeyCache, mountedKeyTimes } from './key-cache.ts';
import { KeysError, type PublicKeys } from './public-keys.ts';
import { own, readToken, type UnprovedToken } from './read-token.ts';

export type { Identity, Refusal, RefusalCode, Subject } from './identity.ts';

export type TrustedIssuer = {
  /** Claim `iss`, compared as it is. */
  readonly issuer: string;
  /** One of the claim `aud`. */
  readonly audience: string;
  /** Where its keys are: a URL, or the path of a mounted file. */
  readonly jwks: URL | { readonly file: string };
};

export type VerifierOptions = {
  readonly issuers: readonly TrustedIssuer[];
  readonly clock?: Clock;
  /** Told why keys of an issuer cannot be had; the message holds no token. */
  readonly onUnavailable?: (issuer: string, error: KeysError) => void;
};

export type Verifier = {
  /**
   * Who the token speaks of. It never throws for what a token, an issuer or a network does: where the keys cannot be
   * had the refusal is `identity_unavailable`. An answer is good for one request.
   */
  verify(token: string): Promise<Identity | Refusal>;
};

/** Judges tokens of several issuers, each with keys of its own: RS256, ES256 and EdDSA, signed JWTs only. */
export function createVerifier({ issuers, clock = systemClock, onUnavailable }: VerifierOptions): Verifier {
  const known = new Map(issuers.map((one) => [one.issuer, { ...one, cache: cacheOf(one, clock) }]));
  if (known.size !== issuers.length) throw new Error('an issuer stands twice in the list of those that are trusted');

  return {
    async verify(token) {
      const read = readToken(token);
      if (read.kind === 'refusal') return read;
      const issuer = known.get(String(own(read.claims, 'iss')));
      if (issuer === undefined) return refusal('issuer_unknown');
      try {
        const keys = await issuer.cache.keysFor(kidOf(read));
        const fault = await signatureFault(token, keys);
        if (fault !== undefined) return fault;
      } catch (error) {
        if (!(error instanceof KeysError)) throw error;
        onUnavailable?.(issuer.issuer, error);
        return refusal('identity_unavailable');
      }
      return judgeClaims(read.claims, { issuer: issuer.issuer, audience: issuer.audience, now: clock.date() });
    },
  };
}

function cacheOf({ jwks }: TrustedIssuer, clock: Clock): KeyCache {
  if (jwks instanceof URL) return new KeyCache({ load: () => fetchKeys(jwks), clock, ...fetchedKeyTimes });
  return new KeyCache({ load: () => readKeysFile(jwks.file), clock, ...mountedKeyTimes });
}

function kidOf({ header }: UnprovedToken): string | undefined {
  const kid = own(header, 'kid');
  return typeof kid === 'string' ? kid : undefined;
}

async function signatureFault(token: string, keys: PublicKeys): Promise<Refusal | undefined> {
  const options = { algorithms: [...algorithms] };
  try {
    await compactVerify(token, keys.find, options);
    return undefined;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return faultOfEach(token, error, options);
    return faultOf(error);
  }
}

/** A token without a key id may be one of any key that fits its algorithm; their number is bounded. */
async function faultOfEach(
  token: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  options: { readonly algorithms: string[] },
): Promise<Refusal | undefined> {
  for await (const key of candidates) {
    try {
      await compactVerify(token, key, options);
      return undefined;
    } catch (error) {
      faultOf(error);
    }
  }
  return refusal('signature_wrong');
}

/** @throws what is no judgement of the token */
function faultOf(error: unknown): Refusal {
  if (error instanceof errors.JWSSignatureVerificationFailed) return refusal('signature_wrong');
  if (error instanceof errors.JWKSNoMatchingKey) return refusal('key_unknown');
  if (error instanceof errors.JOSEAlgNotAllowed) return refusal('algorithm_refused');
  if (error instanceof errors.JWSInvalid || error instanceof errors.JOSENotSupported) return refusal('token_malformed');
  // A published key that cannot be used at all: the point of an elliptic curve that does not lie on it, say.
  if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException) {
    return refusal('key_unknown');
  }
  throw error;
}
