import { compactVerify, errors } from 'jose';
import { type Algorithm, refusal, type TokenError } from './identity.ts';
import type { PublicKeys } from './public-keys.ts';
import { VerifiedTokens } from './verified-tokens.ts';

/** A key set that is loaded again is another object and has verified no token, so that a key can be revoked. */
const verifiedBy = new WeakMap<PublicKeys, VerifiedTokens>();

type SignatureOptions = {
  readonly algorithms: readonly Algorithm[];
  /**
   * Whether the token may be presented repeatedly: then its signature is verified only once, but its claims each time.
   */
  readonly isRepeated: boolean;
};

/**
 * The reason why the signature of a token is refused; undefined if a published key of one of the algorithms made it.
 */
export async function signatureFault(
  token: string,
  keys: PublicKeys,
  { algorithms, isRepeated }: SignatureOptions,
): Promise<TokenError | undefined> {
  if (!isRepeated) return await verifySignature(token, keys, algorithms);
  const verified = verifiedBy.get(keys) ?? new VerifiedTokens();
  verifiedBy.set(keys, verified);
  if (verified.has(token, algorithms)) return undefined;
  const fault = await verifySignature(token, keys, algorithms);
  if (fault === undefined) verified.add(token, algorithms);
  return fault;
}

async function verifySignature(
  token: string,
  keys: PublicKeys,
  algorithms: readonly Algorithm[],
): Promise<TokenError | undefined> {
  const options = { algorithms: [...algorithms] };
  try {
    await compactVerify(token, keys.find, options);
    return undefined;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return faultOfEach(token, error, options);
    return faultOf(error);
  }
}

/** A token without a key id is verified with every key of its algorithm; the number of keys is limited. */
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
