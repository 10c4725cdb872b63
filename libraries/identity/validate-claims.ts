import type { JsonValue } from '#kit/json/parse-strict';
import { type Identity, refusal, type Subject, type TokenError, type TokenErrorCode, tokenLimits } from './identity.ts';
import { isMembers, own } from './read-token.ts';

type ExpectedClaims = {
  readonly issuer: string;
  readonly audience: string;
  readonly now: Date;
  readonly groupsClaim?: string;
  readonly tenants?: readonly string[];
  readonly tenantsClaim?: string;
  readonly subjectIssuerClaim?: string;
};
export type Claims = Readonly<Record<string, JsonValue>>;

/** 9999-12-31T23:59:59Z, the last second of a year with four digits. */
const lastSecond = 253_402_300_799;

/** The identity in the claims of a verified token (RFC 7519, section 4.1), or why they are refused. */
export function validateClaims(claims: Claims, expected: ExpectedClaims): Identity | TokenError {
  const fault = audienceFault(claims, expected) ?? timeFault(claims, expected.now, tokenLimits.skewSeconds);
  if (fault !== undefined) return refusal(fault);
  const issuer = own(claims, 'iss');
  const subject = own(claims, 'sub');
  const tokenId = own(claims, 'jti');
  if (issuer !== expected.issuer || !isName(subject)) return refusal('claims_invalid');
  const { subjectIssuerClaim } = expected;
  const subjectIssuer = subjectIssuerClaim === undefined ? issuer : own(claims, subjectIssuerClaim);
  if (!isName(subjectIssuer)) return refusal('claims_invalid');
  if (tokenId !== undefined && !isName(tokenId)) return refusal('claims_invalid');
  const actors = actorsOf(claims, expected.issuer);
  if (typeof actors === 'string') return refusal(actors);
  const groups = namesOf(claims, expected.groupsClaim);
  if (typeof groups === 'string') return refusal(groups);
  const tenants = namesOf(claims, expected.tenantsClaim);
  if (typeof tenants === 'string') return refusal(tenants);
  const actorsEnd = earliestEnd(claims);
  return {
    kind: 'identity',
    issuer: subjectIssuer,
    subject,
    actors,
    groups,
    tenants: [...new Set([...(expected.tenants ?? []), ...tenants])],
    audience: expected.audience,
    expiresAt: new Date(Number(own(claims, 'exp')) * 1_000),
    ...(tokenId === undefined ? {} : { tokenId }),
    ...(actorsEnd === undefined ? {} : { actorsExpireAt: new Date(actorsEnd * 1_000) }),
  };
}

function audienceFault(claims: Claims, { audience }: ExpectedClaims): TokenErrorCode | undefined {
  const found = own(claims, 'aud');
  if (typeof found === 'string') return found === audience ? undefined : 'audience_wrong';
  if (!Array.isArray(found) || !found.every((one) => typeof one === 'string')) return 'claims_invalid';
  return found.includes(audience) ? undefined : 'audience_wrong';
}

/** Why the times of a token are refused, with a clock skew of at most `skewSeconds` between issuer and verifier. */
export function timeFault(claims: Claims, now: Date, skewSeconds: number): TokenErrorCode | undefined {
  const seconds = now.getTime() / 1_000;
  const expires = own(claims, 'exp');
  if (!isSecond(expires)) return 'claims_invalid';
  for (const name of ['nbf', 'iat']) {
    const from = own(claims, name);
    if (from === undefined) continue;
    if (!isSecond(from)) return 'claims_invalid';
    if (from > seconds + skewSeconds) return 'not_yet_valid';
  }
  return seconds < expires + skewSeconds ? undefined : 'expired';
}

/** The act chain of a token, the direct caller first; an actor without an issuer belongs to `issuer`. */
export function actorsOf(claims: Claims, issuer: string): readonly Subject[] | TokenErrorCode {
  const actors: Subject[] = [];
  for (let act = own(claims, 'act'); act !== undefined; ) {
    if (actors.length === tokenLimits.actors) return 'actors_too_many';
    if (!isMembers(act)) return 'claims_invalid';
    const subject = own(act, 'sub');
    const from = own(act, 'iss') ?? issuer;
    if (!isName(subject) || !isName(from)) return 'claims_invalid';
    actors.push({ issuer: from, subject });
    act = own(act, 'act');
  }
  return actors;
}

/** The names in a configured claim, whose value is a list of names or one name. An absent claim contains no names. */
function namesOf(claims: Claims, claim: string | undefined): readonly string[] | TokenErrorCode {
  const value = claim === undefined ? undefined : own(claims, claim);
  if (value === undefined) return [];
  const names = Array.isArray(value) ? value : [value];
  if (!names.every(isName)) return 'claims_invalid';
  return names.length > tokenLimits.groups ? 'groups_too_many' : [...new Set(names)];
}

/** The earliest `exp` in the act chain, seconds; a value that is not a number of seconds counts as expired. */
function earliestEnd(claims: Claims): number | undefined {
  let earliest: number | undefined;
  for (let act = own(claims, 'act'); isMembers(act); act = own(act, 'act')) {
    const end = own(act, 'exp');
    if (end !== undefined) earliest = Math.min(earliest ?? lastSecond, isSecond(end) ? end : 0);
  }
  return earliest;
}

export function isSecond(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value <= lastSecond;
}

/** Control characters could make two different names look equal. */
export function isName(value: JsonValue | undefined): value is string {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= tokenLimits.nameLength &&
    !/[\u0000-\u001f\u007f-\u009f]/.test(value)
  );
}
