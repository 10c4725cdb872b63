import { bearerToken } from '#kit/http/bearer';
import { refusal, type TokenError } from './identity.ts';

/** The bearer token of a request, from Node's raw headers. The token must not be logged. */
export function readBearer(
  rawHeaders: readonly string[],
): { readonly kind: 'bearer'; readonly token: string } | TokenError {
  const found = bearerToken(rawHeaders);
  if (found.ok) return { kind: 'bearer', token: found.token };
  switch (found.fault) {
    case 'missing':
    case 'empty':
      return refusal('token_missing');
    case 'duplicate':
      return refusal('token_duplicate');
    case 'scheme':
      return refusal('token_malformed');
  }
}
