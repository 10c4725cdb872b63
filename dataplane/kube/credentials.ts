import type { TokenFile } from '#kit/http/token-file';

/** How requests prove who sends them; the one place that knows a source of credentials. */
export type Credentials = {
  /** The Authorization header of the next request. The source is re-read when it changed. */
  authorization(): string;
};

/** A bearer token out of a mounted file, which may be rotated at any time. */
export function tokenCredentials(tokenFile: Pick<TokenFile, 'first'>): Credentials {
  return { authorization: () => `Bearer ${tokenFile.first()}` };
}
