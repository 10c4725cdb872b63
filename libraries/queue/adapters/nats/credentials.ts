import { readFileSync } from 'node:fs';
import type { Authenticator } from '@nats-io/transport-node';

/** Credentials of the client, read from mounted files; white space around a token or password is ignored. */
export type NatsCredentials =
  /** A credentials file of NATS with a JWT and the seed of an nkey. */
  | { readonly kind: 'creds'; readonly file: string }
  | { readonly kind: 'token'; readonly file: string }
  | { readonly kind: 'password'; readonly user: string; readonly file: string };

/**
 * Reads the file for every connection, so that a rotated credential needs no restart. While the file cannot be used,
 * the last credential is sent: if the authenticator threw an error, the driver would never try to connect again.
 * @throws the error of the file system or the driver if the file cannot be used now
 */
export function authenticatorOf(
  driver: typeof import('@nats-io/transport-node'),
  credentials: NatsCredentials,
): Authenticator {
  const create = (): Authenticator => {
    const bytes = readFileSync(credentials.file);
    const line = bytes.toString('utf8').trim();
    switch (credentials.kind) {
      case 'creds':
        return driver.credsAuthenticator(bytes);
      case 'token':
        return driver.tokenAuthenticator(line);
      case 'password':
        return driver.usernamePasswordAuthenticator(credentials.user, line);
    }
  };
  let last = create();
  return (nonce) => {
    try {
      const next = create();
      const answer = next(nonce);
      last = next;
      return answer;
    } catch {
      return last(nonce);
    }
  };
}
