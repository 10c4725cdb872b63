import type { IncomingHttpHeaders } from 'node:http';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { tradeGrant } from './trade-grant.ts';

export type AgentSettings = {
  /** Base URL of the agent gateway, where its keys and its token exchange are. */
  readonly gateway: URL;
  /** Claim `iss` of the tokens of the gateway, compared exactly. */
  readonly issuer: string;
  readonly agentId: string;
  readonly versionId: string;
};

/** A person or an agent, with the issuer that proved it. */
type Party = { readonly issuer: string; readonly subject: string };

/** A call that the gateway has admitted. */
export type GatewayCall = {
  readonly operation: string;
  /** The person for whom the agent is called. */
  readonly person: Party;
  /** The agents between the person and this agent, the direct caller first. */
  readonly actors: readonly Party[];
  readonly tenant: string | undefined;
  /**
   * Requests a token of at most 60 s for one audience that the version requires, in the name of the person. Request a
   * new one before each call of a service: the gateway checks the rights of the person each time.
   * @throws ExchangeRefused
   */
  tokenFor(audience: string): Promise<string>;
};

/**
 * A call is refused: with 401 because of its tokens, with 503 if they cannot be checked now. The message contains no
 * part of a token.
 */
export class CallRefused extends Error {
  readonly status: 401 | 503;

  constructor(status: 401 | 503, why: string) {
    super(why);
    this.name = 'CallRefused';
    this.status = status;
  }
}

export type GatewayCallVerifier = {
  /** Accepts a call of this version for this operation once. @throws CallRefused */
  verify(headers: IncomingHttpHeaders, operation: string): Promise<GatewayCall>;
};

const grantHeader = 'x-portcullis-run-grant';
const grantKind = { typ: 'portcullis-run-grant+jwt', audience: 'urn:portcullis:token-exchange', longestSeconds: 900 };
const skewSeconds = 5;
const maxCharacters = 8_192;
const maxActors = 4;
/**
 * Maximum number of ids of used tokens that are kept; above it further calls are refused, because a token whose id was
 * dropped could be used again.
 */
const maxUsedIds = 100_000;

type TokenKind = { readonly typ: string; readonly audience: string; readonly longestSeconds: number };
type Claims = JWTPayload & { readonly iat: number; readonly exp: number; readonly jti: string };

/**
 * Verifies calls of one version of an agent. Used tokens are kept in memory, so that only one process of a version may
 * run. Tokens that were issued before the process started are refused, because an earlier process may have accepted
 * them.
 */
export function createCallVerifier({ gateway, issuer, agentId, versionId }: AgentSettings): GatewayCallVerifier {
  const at = gateway.href.endsWith('/') ? gateway : new URL(`${gateway.href}/`);
  // A new key is published 60 s before it signs, and the keys are fetched again for an unknown key at most every 30 s.
  const keys = createRemoteJWKSet(new URL('.well-known/jwks.json', at), {
    cacheMaxAge: 60_000,
    cooldownDuration: 30_000,
    timeoutDuration: 5_000,
  });
  const workload: TokenKind = {
    typ: 'portcullis-workload+jwt',
    audience: `urn:portcullis:agent:${encodeURIComponent(agentId)}:version:${encodeURIComponent(versionId)}`,
    longestSeconds: 60,
  };
  const startedAt = Math.floor(Date.now() / 1_000);
  /** For each used token, the second after which the token is refused because of its age. */
  const used = new Map<string, number>();

  async function open(token: string, { typ, audience, longestSeconds }: TokenKind): Promise<Claims> {
    if (token.length > maxCharacters) throw new CallRefused(401, 'a token is too long');
    const wanted = { algorithms: ['EdDSA'], typ, issuer, audience, clockTolerance: skewSeconds };
    const requiredClaims = ['iat', 'exp', 'jti'];
    const { payload, protectedHeader } = await jwtVerify(token, keys, { ...wanted, requiredClaims }).catch(refuse);
    const { iat, exp, jti, aud } = payload;
    const isTimed = Number.isInteger(iat) && Number.isInteger(exp) && Number(exp) > Number(iat);
    if (!isTimed || Number(exp) - Number(iat) > longestSeconds || Number(iat) > Date.now() / 1_000 + skewSeconds) {
      throw new CallRefused(401, 'the times of a token are wrong');
    }
    const isBound = payload['agentId'] === agentId && payload['versionId'] === versionId && typeof aud === 'string';
    if (!isBound || !isName(protectedHeader.kid) || !isName(jti)) throw new CallRefused(401, 'a token is not for this');
    return payload as Claims;
  }

  /** Records the id of a token. This function must not wait, so that only one of two equal tokens is accepted. */
  function use({ jti, exp }: Claims): void {
    const now = Date.now() / 1_000;
    if (used.size >= maxUsedIds) for (const [id, end] of used) if (end < now) used.delete(id);
    if (used.size >= maxUsedIds) throw new CallRefused(503, 'too many tokens were used');
    if (used.has(jti)) throw new CallRefused(401, 'the token was used before');
    used.set(jti, exp + skewSeconds);
  }

  return {
    async verify(headers, operation) {
      const bearer = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(headers.authorization ?? '')?.[1];
      if (bearer === undefined) throw new CallRefused(401, 'a call needs one bearer token');
      const claims = await open(bearer, workload);
      if (claims['scope'] !== 'invoke' || claims['operation'] !== operation) {
        throw new CallRefused(401, 'the token is for another operation');
      }
      if (claims.iat < startedAt) throw new CallRefused(401, 'the token was issued before the process started');
      const caller = callerOf(claims, { issuer, agentId });
      const grant = headers[grantHeader];
      if (grant !== undefined) {
        if (typeof grant !== 'string') throw new CallRefused(401, 'a call has one grant');
        const granted = callerOf(await open(grant, grantKind), { issuer, agentId });
        if (JSON.stringify(granted) !== JSON.stringify(caller))
          throw new CallRefused(401, 'the grant is of another call');
      }
      use(claims);
      return { operation, ...caller, tokenFor: (audience) => tradeGrant(at, grant, audience) };
    },
  };
}

/** Refuses a token, and keeps apart those whose keys could not be read. */
function refuse(error: unknown): never {
  const isUnread =
    !(error instanceof errors.JOSEError) ||
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    error.code === 'ERR_JOSE_GENERIC';
  throw isUnread
    ? new CallRefused(503, 'the keys of the gateway cannot be read')
    : new CallRefused(401, 'a token is invalid');
}

type Caller = Pick<GatewayCall, 'person' | 'actors' | 'tenant'>;

function callerOf(claims: Claims, own: { readonly issuer: string; readonly agentId: string }): Caller {
  const tenant = claims['tenant'];
  if (tenant !== undefined && !isName(tenant)) throw new CallRefused(401, 'the tenant is invalid');
  const actors: Party[] = [];
  for (let act = claims['act']; act !== undefined; ) {
    const { iss = own.issuer, sub, act: next } = (act ?? {}) as { iss?: unknown; sub?: unknown; act?: unknown };
    if (actors.length === maxActors) throw new CallRefused(401, 'the chain of agents is too long');
    actors.push(partyOf(iss, sub));
    act = next;
  }
  // The called agent counts as an actor, so that a cycle of agents ends at its first repetition.
  const chain = [{ issuer: own.issuer, subject: own.agentId }, ...actors].map((one) => JSON.stringify(one));
  if (new Set(chain).size < chain.length) throw new CallRefused(401, 'an agent is twice in the chain');
  return { person: partyOf(claims['sub_iss'], claims.sub), actors, tenant };
}

function partyOf(issuer: unknown, subject: unknown): Party {
  if (!isName(issuer) || !isName(subject)) throw new CallRefused(401, 'a name is invalid');
  return { issuer, subject };
}

/** Control characters could make two different names look equal. */
function isName(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= 255 && !/[\u0000-\u001f\u007f-\u009f]/.test(value)
  );
}
