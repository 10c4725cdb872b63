import { type KeyObject, sign } from 'node:crypto';
import type { JWTPayload } from 'jose';
import type { Clock } from '#kit/time/clock';
import { type Subject, type TokenErrorCode, tokenErrorStatus, tokenLimits } from './identity.ts';
import type { KeyCache } from './key-cache.ts';
import { KeysError } from './public-keys.ts';
import { kidOf, own, readToken } from './read-token.ts';
import { actorsOf, type Claims, isName, isSecond, timeFault } from './validate-claims.ts';
import { signatureFault } from './verify-signature.ts';

/** The audience of one agent, for all of its versions: of calls by other agents, and of file capabilities. */
export function agentAudience(agentId: string): string {
  return `urn:portcullis:agent:${encodeURIComponent(agentId)}`;
}

/** Limits of the tokens that the gateway signs for agents. */
export const gatewayTokenLimits = {
  /** Longest life of a workload token, seconds. */
  workloadSeconds: 60,
  /** Longest lifetime of a run grant, seconds: as long as a run may take. */
  grantSeconds: 900,
  /** Largest clock skew between gateway and agent, seconds. */
  skewSeconds: 5,
  /** Number of ids of used workload tokens that a process keeps. */
  usedIds: 100_000,
  /** Maximum number of models that one token may name. */
  aliases: 100,
} as const;

/** Further reasons why a token of the gateway is refused. */
const gatewayTokenErrors = {
  agent_wrong: { status: 401, meaning: 'The token is for another agent or another version.' },
  operation_wrong: { status: 401, meaning: 'The token is for another operation.' },
  scope_wrong: { status: 401, meaning: 'The token does not have the scope invoke.' },
  run_wrong: { status: 401, meaning: 'The grant is for another run, subject or chain of actors.' },
  lifetime_too_long: { status: 401, meaning: 'The token is valid for longer than its kind may be.' },
  issued_before_start: {
    status: 401,
    meaning:
      'The token was issued before this process started, so that it cannot know whether the token was used already.',
  },
  actor_repeated: { status: 401, meaning: 'An agent is twice in the chain of a call.' },
  token_used: { status: 401, meaning: 'The token was accepted before.' },
  token_store_full: { status: 503, meaning: 'The process keeps as many ids of used tokens as it can.' },
} as const satisfies Record<string, { readonly status: 401 | 503; readonly meaning: string }>;

type GatewayTokenErrorCode = TokenErrorCode | keyof typeof gatewayTokenErrors;
export type GatewayTokenRefusal = {
  readonly kind: 'refusal';
  readonly code: GatewayTokenErrorCode;
  readonly status: 401 | 503;
};

export function refuseToken(code: GatewayTokenErrorCode): GatewayTokenRefusal {
  const status = code in gatewayTokenErrors ? gatewayTokenErrors[code as 'token_used'].status : undefined;
  return { kind: 'refusal', code, status: status ?? tokenErrorStatus(code as TokenErrorCode) };
}

/** A token cannot be signed, because every verifier would refuse it. The message has no claim. */
export class UnsignableTokenError extends Error {
  readonly code: GatewayTokenErrorCode;

  constructor(code: GatewayTokenErrorCode) {
    super(`a token that is refused as ${code} is not signed`);
    this.name = 'UnsignableTokenError';
    this.code = code;
  }
}

/** A private Ed25519 key of the gateway and the id under which its public part is published. */
export type GatewayKey = { readonly kid: string; readonly privateKey: KeyObject };

/** The call that a token of the gateway belongs to. */
export type DelegatedCall = {
  readonly agentId: string;
  readonly versionId: string;
  /** The user, with the issuer that authenticated the user. */
  readonly subject: Subject;
  /** The agents between the user and this agent, the direct caller first. */
  readonly actors: readonly Subject[];
  /** The tenant of the user in this call; absent if the user has no tenant, or has several and chose none. */
  readonly tenant?: string;
};

/** A call for which the gateway issues further tokens; unlike other calls, it has the groups of the user. */
export type DelegatedMember = DelegatedCall & {
  /** Groups that the issuer of the user named. */
  readonly groups: readonly string[];
};

type GatewayTokenKind = {
  /**
   * The value of the header `typ`, which differs for each kind: a token of one kind is refused where another kind is
   * expected.
   */
  readonly typ: string;
  readonly longestSeconds: number;
  /** Whether its verifier accepts a token only once, so that no signature is verified twice. */
  readonly isUsedOnce?: boolean;
};

/** The values of the claims that all kinds share. */
type GatewayClaims = DelegatedCall & {
  readonly tokenId: string;
  /** Time of issue, seconds since 1970. */
  readonly issuedAt: number;
  /** Time of expiry, seconds since 1970. */
  readonly expiresAt: number;
};

type SignOptions = DelegatedCall & {
  readonly kind: GatewayTokenKind;
  readonly key: GatewayKey;
  readonly issuer: string;
  readonly audience: string;
  readonly tokenId: string;
  readonly ttlSeconds: number;
  readonly clock: Clock;
  readonly claims: JWTPayload;
};

/**
 * Signs a token that its verifier accepts.
 * @throws UnsignableTokenError
 */
export async function signGatewayToken(options: SignOptions): Promise<string> {
  const { kind, key, issuer, agentId, versionId, subject, actors, ttlSeconds, clock } = options;
  const now = Math.floor(clock.date().getTime() / 1_000);
  const act = actClaim(actors);
  const claims = {
    ...options.claims,
    iss: issuer,
    aud: options.audience,
    sub: subject.subject,
    sub_iss: subject.issuer,
    agentId,
    versionId,
    iat: now,
    exp: now + ttlSeconds,
    jti: options.tokenId,
    ...(options.tenant === undefined ? {} : { tenant: options.tenant }),
    ...(act === undefined ? {} : { act }),
  };
  const read = readGatewayClaims(claims as Claims, { ...options, longestSeconds: kind.longestSeconds });
  if (typeof read === 'string') throw new UnsignableTokenError(read);
  const header = { alg: 'EdDSA', typ: kind.typ, kid: key.kid };
  const token = signedText(header, claims, key);
  if (token.length > tokenLimits.characters) throw new UnsignableTokenError('token_too_large');
  return token;
}

/**
 * A JWS in compact form (RFC 7515, section 7.1). The text is signed on this thread, because an Ed25519 signature takes
 * less time than a task of the thread pool, for which every call of an agent would wait.
 */
function signedText(header: object, claims: object, { privateKey }: GatewayKey): string {
  const [head, body] = [header, claims].map((one) => Buffer.from(JSON.stringify(one)).toString('base64url'));
  const text = `${head}.${body}`;
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
}

/** The claim `act` for a chain of actors (RFC 8693, section 4.1); undefined for an empty chain. */
export function actClaim(actors: readonly Subject[]): object | undefined {
  return actors.reduceRight<object | undefined>(
    (inner, one) => ({ iss: one.issuer, sub: one.subject, ...(inner === undefined ? {} : { act: inner }) }),
    undefined,
  );
}

type OpenOptions = {
  readonly kind: GatewayTokenKind;
  readonly issuer: string;
  readonly keys: KeyCache;
  readonly onUnavailable?: ((error: KeysError) => void) | undefined;
};

type OpenedToken = { readonly kind: 'opened'; readonly claims: Claims };

/** The claims of a token whose signature the gateway made. Never throws because of a token or a network. */
export async function openGatewayToken(
  token: string,
  options: OpenOptions,
): Promise<OpenedToken | GatewayTokenRefusal> {
  const read = readToken(token, { types: new Set([options.kind.typ]), algorithms: ['EdDSA'] });
  if (read.kind === 'refusal') return read;
  const kid = kidOf(read);
  if (kid === undefined) return refuseToken('key_unknown');
  if (own(read.claims, 'iss') !== options.issuer) return refuseToken('issuer_unknown');
  try {
    const keys = await options.keys.keysFor(kid);
    const isRepeated = options.kind.isUsedOnce !== true;
    const fault = await signatureFault(token, keys, { algorithms: ['EdDSA'], isRepeated });
    return fault ?? { kind: 'opened', claims: read.claims };
  } catch (error) {
    if (!(error instanceof KeysError)) throw error;
    options.onUnavailable?.(error);
    return refuseToken('identity_unavailable');
  }
}

type Expected = {
  readonly issuer: string;
  readonly audience: string;
  readonly longestSeconds: number;
  readonly clock: Clock;
};

/** The shared claims of a token, or why they are refused. */
export function readGatewayClaims(claims: Claims, expected: Expected): GatewayClaims | GatewayTokenErrorCode {
  // A list of audiences is refused: these tokens have exactly one recipient.
  if (own(claims, 'aud') !== expected.audience) return 'audience_wrong';
  const issuedAt = own(claims, 'iat');
  const expiresAt = own(claims, 'exp');
  if (!isWholeSecond(issuedAt) || !isWholeSecond(expiresAt) || expiresAt <= issuedAt) return 'claims_invalid';
  if (expiresAt - issuedAt > expected.longestSeconds) return 'lifetime_too_long';
  const late = timeFault(claims, expected.clock.date(), gatewayTokenLimits.skewSeconds);
  if (late !== undefined) return late;
  const [agentId, versionId, tokenId] = [own(claims, 'agentId'), own(claims, 'versionId'), own(claims, 'jti')];
  const [subject, issuer] = [own(claims, 'sub'), own(claims, 'sub_iss')];
  if (!isName(agentId) || !isName(versionId) || !isName(tokenId) || !isName(subject) || !isName(issuer)) {
    return 'claims_invalid';
  }
  const tenant = own(claims, 'tenant');
  if (tenant !== undefined && !isName(tenant)) return 'claims_invalid';
  const actors = actorsOf(claims, expected.issuer);
  if (typeof actors === 'string') return actors;
  // The agent that is called is the next actor of the chain, so that a cycle of agents ends at its first repetition.
  if (repeats([{ issuer: expected.issuer, subject: agentId }, ...actors])) return 'actor_repeated';
  const call = { agentId, versionId, tokenId, subject: { issuer, subject }, actors, issuedAt, expiresAt };
  return tenant === undefined ? call : { ...call, tenant };
}

/**
 * The groups of the user in a token; undefined if the claim is not a list of names. An absent claim means no groups.
 */
export function groupsClaim(claims: Claims): readonly string[] | undefined {
  const found = own(claims, 'groups') ?? [];
  if (!Array.isArray(found) || found.length > tokenLimits.groups || !found.every(isName)) return undefined;
  return found;
}

export function isSubject(one: Subject, other: Subject): boolean {
  return one.issuer === other.issuer && one.subject === other.subject;
}

function repeats(subjects: readonly Subject[]): boolean {
  return subjects.some((one, at) => subjects.findIndex((other) => isSubject(one, other)) !== at);
}

function isWholeSecond(value: Claims[string] | undefined): value is number {
  return isSecond(value) && Number.isInteger(value);
}
