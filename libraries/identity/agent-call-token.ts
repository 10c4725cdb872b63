import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '#kit/time/clock';
import {
  agentAudience,
  type DelegatedMember,
  type GatewayKey,
  type GatewayTokenRefusal,
  gatewayTokenLimits,
  groupsClaim,
  openGatewayToken,
  readGatewayClaims,
  refuseToken,
  signGatewayToken,
} from './gateway-token.ts';
import { type KeyPlace, openKeyCache } from './key-cache.ts';
import type { KeysError } from './public-keys.ts';
import { own, readToken } from './read-token.ts';
import { budgetSchema, type GrantedBudget } from './run-grant.ts';
import { isSecond } from './validate-claims.ts';

const kind = { typ: 'portcullis-agent-call+jwt', longestSeconds: gatewayTokenLimits.workloadSeconds } as const;
/** The route of the called agent selects the version, so that the token contains no version. */
const versionId = 'served';

/**
 * The claims of a call of one agent by another agent. `actors` begins with the calling agent; `agentId` is the called
 * agent.
 */
type AgentCallClaims = Omit<DelegatedMember, 'versionId'> & {
  /** The remaining budget of the run of the caller. */
  readonly budget: GrantedBudget;
  /** The end of that run. */
  readonly deadline: Date;
};

type MintAgentCallOptions = AgentCallClaims & {
  readonly key: GatewayKey;
  readonly issuer: string;
  readonly ttlSeconds: number;
  readonly clock?: Clock;
};

/**
 * Signs the right of an agent to call another agent in the name of a person.
 * @throws UnsignableTokenError: actor_repeated for an agent that is already in the chain, actors_too_many for a fifth
 * actor
 */
export async function mintAgentCallToken(options: MintAgentCallOptions): Promise<string> {
  const { clock = systemClock, agentId, groups, budget, deadline } = options;
  return await signGatewayToken({
    ...options,
    versionId,
    kind,
    audience: agentAudience(agentId),
    tokenId: randomUUID(),
    clock,
    claims: { budget, deadline: Math.floor(deadline.getTime() / 1_000), ...(groups.length === 0 ? {} : { groups }) },
  });
}

/** A verified call of one agent by another agent. */
export type VerifiedAgentCall = AgentCallClaims & { readonly kind: 'agent_call' };

/** Whether a text is a token of this kind, according to its header only: the signature is not verified. */
export function isAgentCallToken(token: string): boolean {
  return readToken(token, { types: new Set([kind.typ]), algorithms: ['EdDSA'] }).kind === 'token';
}

export type AgentCallVerifier = {
  /** Accepts a token for this agent until it expires. Never throws because of a token or a network. */
  verify(token: string, agentId: string): Promise<VerifiedAgentCall | GatewayTokenRefusal>;
};

/** Verifies the tokens with which agents call other agents. */
export function createAgentCallVerifier(options: {
  readonly issuer: string;
  readonly jwks: KeyPlace;
  readonly clock?: Clock;
  readonly onUnavailable?: (error: KeysError) => void;
}): AgentCallVerifier {
  const { issuer, clock = systemClock, onUnavailable } = options;
  const keys = openKeyCache(options.jwks, clock);
  return {
    async verify(token, agentId) {
      const opened = await openGatewayToken(token, { kind, issuer, keys, onUnavailable });
      if (opened.kind === 'refusal') return opened;
      const { claims } = opened;
      const expected = { issuer, audience: agentAudience(agentId), longestSeconds: kind.longestSeconds, clock };
      const read = readGatewayClaims(claims, expected);
      if (typeof read === 'string') return refuseToken(read);
      if (read.agentId !== agentId || read.versionId !== versionId) return refuseToken('agent_wrong');
      const budget = budgetSchema.safeParse(own(claims, 'budget'));
      const groups = groupsClaim(claims);
      const deadline = own(claims, 'deadline');
      // Only agents get such a token, so that its chain has at least one actor.
      const isComplete = budget.success && groups !== undefined && isSecond(deadline) && read.actors.length > 0;
      if (!isComplete) return refuseToken('claims_invalid');
      const { issuedAt: _, expiresAt: __, versionId: ___, ...call } = read;
      return { kind: 'agent_call', ...call, groups, budget: budget.data, deadline: new Date(deadline * 1_000) };
    },
  };
}
