import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { type Clock, systemClock } from '#kit/time/clock';
import { actClaim, type DelegatedMember, type GatewayKey, isSubject, UnsignableTokenError } from './gateway-token.ts';
import { tokenLimits } from './identity.ts';

/** Audiences of the services of the data plane, as their file of trusted issuers names them. */
export const serviceAudiences = {
  retrieval: 'urn:portcullis:retrieval',
  memory: 'urn:portcullis:memory',
  catalogue: 'urn:portcullis:catalogue',
} as const;

type MintServiceOptions = DelegatedMember & {
  readonly key: GatewayKey;
  readonly issuer: string;
  readonly audience: (typeof serviceAudiences)[keyof typeof serviceAudiences];
  readonly ttlSeconds: number;
  readonly clock?: Clock;
};

/**
 * Signs an access token (RFC 9068) with which an agent calls a service in the name of a person: `sub` and `sub_iss` are
 * the person, the outermost `act` is the agent. A service accepts the token if its file of trusted issuers has an entry
 * with `subjectIssuerClaim: sub_iss`, `tenantsClaim: tenants` and `groupsClaim: groups`.
 * @throws UnsignableTokenError
 */
export async function mintServiceToken(options: MintServiceOptions): Promise<string> {
  const { clock = systemClock, key, issuer, audience, agentId, subject, tenant, groups, ttlSeconds } = options;
  const actors = [{ issuer, subject: agentId }, ...options.actors];
  if (actors.length > tokenLimits.actors) throw new UnsignableTokenError('actors_too_many');
  if (actors.some((one, at) => actors.findIndex((other) => isSubject(one, other)) !== at)) {
    throw new UnsignableTokenError('actor_repeated');
  }
  const now = Math.floor(clock.date().getTime() / 1_000);
  const claims = {
    iss: issuer,
    aud: audience,
    sub: subject.subject,
    sub_iss: subject.issuer,
    client_id: agentId,
    iat: now,
    exp: now + ttlSeconds,
    jti: randomUUID(),
    ...(tenant === undefined ? {} : { tenants: [tenant] }),
    ...(groups.length === 0 ? {} : { groups }),
    act: actClaim(actors),
  };
  const header = { alg: 'EdDSA', typ: 'at+jwt', kid: key.kid };
  const token = await new SignJWT(claims).setProtectedHeader(header).sign(key.privateKey);
  if (token.length > tokenLimits.characters) throw new UnsignableTokenError('token_too_large');
  return token;
}
