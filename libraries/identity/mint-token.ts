import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { type Clock, systemClock } from '#kit/time/clock';
import type { Subject } from './identity.ts';
import { readSigningKeys, signingKeyAt } from './signing-keys.ts';

type MintOptions = {
  /** File of the keys of the development issuer. */
  readonly keyFile: string;
  readonly issuer: string;
  readonly subject: string;
  readonly audience: string;
  readonly ttlSeconds: number;
  /** The act chain (RFC 8693, section 4.1), the direct caller first. */
  readonly actors?: readonly Subject[];
  /** Names of groups, in the claim `groups`. */
  readonly groups?: readonly string[];
  readonly clock?: Clock;
};

/**
 * Signs one token with the current key of the file. The file is read locally and never leaves the machine.
 * @throws SigningKeysError
 */
export async function mintToken(options: MintOptions): Promise<string> {
  const { clock = systemClock, actors = [], groups } = options;
  const key = signingKeyAt(await readSigningKeys(options.keyFile), clock.date());
  const now = Math.floor(clock.date().getTime() / 1_000);
  const act = actors.reduceRight<object | undefined>(
    (inner, { issuer, subject }) => ({ iss: issuer, sub: subject, ...(inner === undefined ? {} : { act: inner }) }),
    undefined,
  );
  return new SignJWT({ ...(act === undefined ? {} : { act }), ...(groups === undefined ? {} : { groups }) })
    .setProtectedHeader({ alg: key.alg, typ: 'at+jwt', kid: key.kid })
    .setIssuer(options.issuer)
    .setSubject(options.subject)
    .setAudience(options.audience)
    .setIssuedAt(now)
    .setExpirationTime(now + options.ttlSeconds)
    .setJti(randomUUID())
    .sign(key);
}
