import type { TokenFile } from '#kit/http/token-file';

/** How requests prove who sends them; the one place that knows a source of credentials. */
export type Credentials = {
  /** The Authorization header of the next request, or an error whose message names the source, never the secret. */
  authorization(): string;
};

/** A bearer token out of a mounted file, which may be rotated at any time. */
export function tokenCredentials(tokenFile: Pick<TokenFile, 'first'>): Credentials {
  return { authorization: () => `Bearer ${tokenFile.first()}` };
}
