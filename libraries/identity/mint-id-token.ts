import { SignJWT } from 'jose';
import { type Clock, systemClock } from '#kit/time/clock';
import { readSigningKeys, signingKeyAt } from './signing-keys.ts';

type IdTokenOptions = {
  /** File of the keys of the development issuer. */
  readonly keyFile: string;
  readonly issuer: string;
  readonly subject: string;
  /** The id of the client that the person signs in to. */
  readonly clientId: string;
  readonly nonce: string | undefined;
  readonly ttlSeconds: number;
  readonly clock?: Clock;
};

/**
 * Signs an ID token (OpenID Connect Core 1.0, section 2). Services refuse it, because its type is not that of an access
 * token.
 * @throws SigningKeysError
 */
export async function mintIdToken(options: IdTokenOptions): Promise<string> {
  const { clock = systemClock, nonce } = options;
  const key = signingKeyAt(await readSigningKeys(options.keyFile), clock.date());
  const now = Math.floor(clock.date().getTime() / 1_000);
  return new SignJWT(nonce === undefined ? {} : { nonce })
    .setProtectedHeader({ alg: key.alg, typ: 'JWT', kid: key.kid })
    .setIssuer(options.issuer)
    .setSubject(options.subject)
    .setAudience(options.clientId)
    .setIssuedAt(now)
    .setExpirationTime(now + options.ttlSeconds)
    .sign(key);
}
