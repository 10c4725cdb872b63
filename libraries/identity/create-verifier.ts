import { type Clock, systemClock } from '#kit/time/clock';
import { algorithms, type Identity, refusal, type TokenError } from './identity.ts';
import { type KeyPlace, openKeyCache } from './key-cache.ts';
import { KeysError } from './public-keys.ts';
import { kidOf, own, readToken } from './read-token.ts';
import { conditionFault, type TokenConditions } from './token-conditions.ts';
import { validateClaims } from './validate-claims.ts';
import { signatureFault } from './verify-signature.ts';

export type { Identity, TokenError } from './identity.ts';

export type TrustedIssuer = {
  /** Claim `iss`, compared exactly. */
  readonly issuer: string;
  /** The audience that the claim `aud` must contain. */
  readonly audience: string;
  /** The location of the keys of the issuer: a URL, or the path of a mounted file. */
  readonly jwks: KeyPlace;
  /** Claim that holds the names of the subject's groups; without it no token of the issuer names a group. */
  readonly groupsClaim?: string;
  /** Tenants of every token of the issuer. */
  readonly tenants?: readonly string[];
  /** The claim that contains further tenants of the subject. */
  readonly tenantsClaim?: string;
  /**
   * The claim that names the issuer of the subject, for an issuer that signs tokens for users of other issuers, as the
   * gateway does for agents. Such an issuer can name every user; its tokens without this claim are refused.
   */
  readonly subjectIssuerClaim?: string;
  /** Further conditions that the tokens of the issuer must meet. */
  readonly tokens?: TokenConditions;
};

type VerifierOptions = {
  readonly issuers: readonly TrustedIssuer[];
  readonly clock?: Clock;
  /**
   * Called when the keys of an issuer cannot be loaded; the message contains no token.
   * @param traceId the trace id of the request that needed the keys, if the caller passed it
   */
  readonly onUnavailable?: (issuer: string, error: KeysError, traceId: string | undefined) => void;
};

export type Verifier = {
  /**
   * The identity of a token, for one request. Never throws because of a token, an issuer or a network: if the keys
   * cannot be loaded the error is `identity_unavailable`.
   * @param traceId the trace id of the request
   */
  verify(token: string, traceId?: string): Promise<Identity | TokenError>;
};

const options = { algorithms, isRepeated: true } as const;

/** Verifies signed JWTs (RS256, ES256, EdDSA) of several issuers, each with its own keys. */
export function createVerifier({ issuers, clock = systemClock, onUnavailable }: VerifierOptions): Verifier {
  const known = new Map(issuers.map((one) => [one.issuer, { ...one, cache: openKeyCache(one.jwks, clock) }]));
  if (known.size !== issuers.length) throw new Error('the list of token issuers contains an issuer twice');

  return {
    async verify(token, traceId) {
      const read = readToken(token);
      if (read.kind === 'refusal') return read;
      // A list is refused as an invalid claim, after its signature was verified.
      const [name] = [own(read.claims, 'iss')].flat();
      const issuer = typeof name === 'string' ? known.get(name) : undefined;
      if (issuer === undefined) return refusal('issuer_unknown');
      try {
        const kid = kidOf(read);
        const keys = await issuer.cache.keysFor(kid);
        const fault = await signatureFault(token, keys, options);
        if (fault !== undefined) {
          // A token without a key id shows only by its signature that the issuer has a new key.
          const isOfNewKey = kid === undefined && (fault.code === 'key_unknown' || fault.code === 'signature_wrong');
          const newer = isOfNewKey ? await issuer.cache.keysAfter(keys) : undefined;
          const left = newer === undefined ? fault : await signatureFault(token, newer, options);
          if (left !== undefined) return left;
        }
        const unmet = conditionFault(read, issuer.tokens ?? {}, clock.date());
        if (unmet !== undefined) return refusal(unmet);
      } catch (error) {
        if (!(error instanceof KeysError)) throw error;
        onUnavailable?.(issuer.issuer, error, traceId);
        return refusal('identity_unavailable');
      }
      return validateClaims(read.claims, { ...issuer, now: clock.date() });
    },
  };
}
