import { compactVerify, errors } from 'jose';
import { type Clock, systemClock } from '#kit/time/clock';
import { fetchKeys, readKeysFile } from './fetch-keys.ts';
import { algorithms, type Identity, refusal, type TokenError } from './identity.ts';
import { fetchedKeyTimes, KeyCache, mountedKeyTimes } from './key-cache.ts';
import { KeysError, type PublicKeys } from './public-keys.ts';
import { own, readToken, type UnverifiedToken } from './read-token.ts';
import { validateClaims } from './validate-claims.ts';

export type { Identity, TokenError } from './identity.ts';

export type TrustedIssuer = {
  /** Claim `iss`, compared exactly. */
  readonly issuer: string;
  /** Must be one of the claim `aud`. */
  readonly audience: string;
  /** Where the keys of the issuer are: a URL, or the path of a mounted file. */
  readonly jwks: URL | { readonly file: string };
  /** Claim that holds the names of the subject's groups; without it no token of the issuer names a group. */
  readonly groupsClaim?: string;
  /** Tenants of every token of the issuer. */
  readonly tenants?: readonly string[];
  /** Claim that holds further tenants of the subject. */
  readonly tenantsClaim?: string;
};

type VerifierOptions = {
  readonly issuers: readonly TrustedIssuer[];
  readonly clock?: Clock;
  /** Called when the keys of an issuer cannot be loaded; the message contains no token. */
  readonly onUnavailable?: (issuer: string, error: KeysError) => void;
};

export type Verifier = {
  /**
   * The identity of a token, for one request. Never throws because of a token, an issuer or a network: if the keys
   * cannot be loaded the error is `identity_unavailable`.
   */
  verify(token: string): Promise<Identity | TokenError>;
};

/** Verifies signed JWTs (RS256, ES256, EdDSA) of several issuers, each with its own keys. */
export function createVerifier({ issuers, clock = systemClock, onUnavailable }: VerifierOptions): Verifier {
  const known = new Map(issuers.map((one) => [one.issuer, { ...one, cache: cacheOf(one, clock) }]));
  if (known.size !== issuers.length) throw new Error('the list of token issuers contains an issuer twice');

  return {
    async verify(token) {
      const read = readToken(token);
      if (read.kind === 'refusal') return read;
      // A list is refused as an invalid claim, after its signature was verified.
      const [name] = [own(read.claims, 'iss')].flat();
      const issuer = typeof name === 'string' ? known.get(name) : undefined;
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
      return validateClaims(read.claims, { ...issuer, now: clock.date() });
    },
  };
}

function cacheOf({ jwks }: TrustedIssuer, clock: Clock): KeyCache {
  if (jwks instanceof URL) return new KeyCache({ load: () => fetchKeys(jwks), clock, ...fetchedKeyTimes });
  return new KeyCache({ load: () => readKeysFile(jwks.file), clock, ...mountedKeyTimes });
}

function kidOf({ header }: UnverifiedToken): string | undefined {
  const kid = own(header, 'kid');
  return typeof kid === 'string' ? kid : undefined;
}

async function signatureFault(token: string, keys: PublicKeys): Promise<TokenError | undefined> {
  const options = { algorithms: [...algorithms] };
  try {
    await compactVerify(token, keys.find, options);
    return undefined;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return faultOfEach(token, error, options);
    return faultOf(error);
  }
}

/** A token without a key id is verified with every key of its algorithm; the number of keys is bounded. */
async function faultOfEach(
  token: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  options: { readonly algorithms: string[] },
): Promise<TokenError | undefined> {
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

/** @throws errors that do not concern the token */
function faultOf(error: unknown): TokenError {
  if (error instanceof errors.JWSSignatureVerificationFailed) return refusal('signature_wrong');
  if (error instanceof errors.JWKSNoMatchingKey) return refusal('key_unknown');
  if (error instanceof errors.JOSEAlgNotAllowed) return refusal('algorithm_refused');
  if (error instanceof errors.JWSInvalid || error instanceof errors.JOSENotSupported) return refusal('token_malformed');
  // An invalid published key, such as a point that is not on its curve.
  if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException) {
    return refusal('key_unknown');
  }
  throw error;
}
