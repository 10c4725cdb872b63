import type { ServerResponse } from 'node:http';
import { sendDocument } from './error-answer.ts';

/**
 * GET /.well-known/openid-configuration (OpenID Connect Discovery 1.0, section 4), with the members that a verifier of
 * tokens needs.
 */
export function openIdConfiguration(
  outgoing: ServerResponse,
  { issuer, url }: { readonly issuer: string; readonly url: string },
): void {
  sendDocument(outgoing, {
    issuer,
    jwks_uri: `${url}/jwks.json`,
    id_token_signing_alg_values_supported: ['ES256'],
    subject_types_supported: ['public'],
    response_types_supported: [],
  });
}
