import { z } from 'zod';

const text = z.string().min(1).max(512);

/**
 * An authorization request (RFC 6749, section 4.1.1; OpenID Connect Core 1.0, section 3.1.2.1). PKCE with S256, state
 * and nonce are required; the redirection address is compared with that of the settings.
 */
const requestSchema = z.object({
  response_type: z.literal('code'),
  client_id: text,
  redirect_uri: text,
  scope: text.refine((scope) => scope.split(' ').includes('openid')),
  state: text,
  nonce: text,
  code_challenge: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  code_challenge_method: z.literal('S256'),
});

type AuthorizationRequest = z.infer<typeof requestSchema>;

/** The request; undefined for a request that is not answered and must not be redirected either. */
export function readAuthorizationRequest(
  parameters: Readonly<Record<string, string>>,
  redirectUri: string,
): AuthorizationRequest | undefined {
  const read = requestSchema.safeParse(parameters);
  return read.success && read.data.redirect_uri === redirectUri ? read.data : undefined;
}
