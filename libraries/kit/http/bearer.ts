import { exactlyOnce, type HeaderFault, type OnceHeader } from './raw-headers.ts';

type BearerToken =
  | { readonly ok: true; readonly token: string }
  | { readonly ok: false; readonly fault: HeaderFault | 'scheme' };

/**
 * The form of the header: `Bearer`, spaces and one b64token (RFC 6750 §2.1). The scheme is case-insensitive
 * (RFC 9110 §11.1).
 */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** The bearer token of a request whose Authorization header appears exactly once. Never log it. */
export function bearerToken(rawHeaders: readonly string[]): BearerToken {
  return bearerOf(exactlyOnce(rawHeaders, 'authorization'));
}

/** The bearer token of an Authorization header. Never log it. */
export function bearerOf(header: OnceHeader): BearerToken {
  if (!header.ok) return header;
  const token = BEARER.exec(header.value)?.[1];
  return token === undefined ? { ok: false, fault: 'scheme' } : { ok: true, token };
}
