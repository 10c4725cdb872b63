import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { flowLimits } from '#contracts/flow-limits';
import { type Clock, systemClock } from '#kit/time/clock';
import {
  type DelegatedCall,
  type GatewayKey,
  type GatewayTokenRefusal,
  gatewayTokenLimits,
  groupsClaim,
  isSubject,
  openGatewayToken,
  readGatewayClaims,
  refuseToken,
  signGatewayToken,
  UnsignableTokenError,
} from './gateway-token.ts';
import { type KeyPlace, openKeyCache } from './key-cache.ts';
import type { KeysError } from './public-keys.ts';
import { own } from './read-token.ts';
import { isName } from './validate-claims.ts';

const kind = { typ: 'portcullis-run-grant+jwt', longestSeconds: gatewayTokenLimits.grantSeconds } as const;
/** The only recipient of a grant: the exchange of the gateway (RFC 8693). */
const grantAudience = 'urn:portcullis:token-exchange';

const { nodes, modelTokens, outputBytes } = flowLimits.run;
const amount = ({ min, max }: { readonly min: number; readonly max: number }) => z.int().min(min).max(max);
/** The limits of the run together with everything that it calls; its time is the life of the grant. */
export const budgetSchema = z.strictObject({
  nodes: amount(nodes),
  modelTokens: amount(modelTokens),
  outputBytes: amount(outputBytes),
});
export type GrantedBudget = z.infer<typeof budgetSchema>;

/** The header with which the gateway passes the grant of a run to its agent. */
export const grantHeader = 'x-portcullis-run-grant';

/** The run that a grant is bound to. */
export type GrantedRun = DelegatedCall & { readonly runId: string };

/** The protocol of the call that started a run. Over A2A the caller is also a member of the group of all callers. */
type GrantedMode = 'A2A' | 'MCP';

type MintGrantOptions = GrantedRun & {
  readonly mode: GrantedMode;
  /** Groups that the issuer of the user named. */
  readonly groups?: readonly string[];
  readonly key: GatewayKey;
  readonly issuer: string;
  readonly budget: GrantedBudget;
  /** `limits.timeoutMs` of the version, milliseconds: the life of the grant, rounded up to a second. */
  readonly timeoutMs: number;
  readonly clock?: Clock;
};

/**
 * Signs the right of one run to request tokens until its deadline.
 * @throws UnsignableTokenError
 */
export async function mintRunGrant(options: MintGrantOptions): Promise<string> {
  const { clock = systemClock, runId, mode, groups = [] } = options;
  const budget = budgetSchema.safeParse(options.budget);
  if (!budget.success || !isName(runId)) throw new UnsignableTokenError('claims_invalid');
  return await signGatewayToken({
    ...options,
    kind,
    audience: grantAudience,
    tokenId: randomUUID(),
    ttlSeconds: Math.ceil(options.timeoutMs / 1_000),
    clock,
    claims: {
      ...{ runId, budget: budget.data },
      ...(mode === 'MCP' ? { mode } : {}),
      ...(groups.length === 0 ? {} : { groups }),
    },
  });
}

/** A grant whose signature, times and binding were verified. */
export type RunGrant = GrantedRun & {
  readonly kind: 'grant';
  readonly mode: GrantedMode;
  /** Groups that the issuer of the user named. */
  readonly groups: readonly string[];
  readonly budget: GrantedBudget;
  readonly tokenId: string;
  readonly expiresAt: Date;
};

type GrantVerifierOptions = {
  readonly issuer: string;
  readonly jwks: KeyPlace;
  readonly clock?: Clock;
  readonly onUnavailable?: (error: KeysError) => void;
};

export type RunGrantVerifier = {
  /**
   * Accepts a grant of any run, as the exchange does: it learns the run from the grant. Never throws because of a token
   * or a network.
   */
  open(token: string): Promise<RunGrant | GatewayTokenRefusal>;
  /**
   * Accepts a grant of exactly this call, and of exactly this run if `runId` is given, any number of times. Never
   * throws because of a token or a network.
   */
  verify(
    token: string,
    run: DelegatedCall & Partial<Pick<GrantedRun, 'runId'>>,
  ): Promise<RunGrant | GatewayTokenRefusal>;
};

/** Verifies run grants: the exchange of the gateway, and a version that checks the grant of a call. */
export function createRunGrantVerifier(options: GrantVerifierOptions): RunGrantVerifier {
  const { issuer, clock = systemClock, onUnavailable } = options;
  const keys = openKeyCache(options.jwks, clock);
  const expected = { issuer, audience: grantAudience, longestSeconds: kind.longestSeconds, clock };
  async function open(token: string): Promise<RunGrant | GatewayTokenRefusal> {
    const opened = await openGatewayToken(token, { kind, issuer, keys, onUnavailable });
    if (opened.kind === 'refusal') return opened;
    const { claims } = opened;
    const read = readGatewayClaims(claims, expected);
    if (typeof read === 'string') return refuseToken(read);
    const runId = own(claims, 'runId');
    const groups = groupsClaim(claims);
    const budget = budgetSchema.safeParse(own(claims, 'budget'));
    // The claim is absent for A2A.
    const mode = own(claims, 'mode') ?? 'A2A';
    const isRead = isName(runId) && groups !== undefined && budget.success;
    if (!isRead || (mode !== 'A2A' && mode !== 'MCP')) return refuseToken('claims_invalid');
    const { expiresAt, issuedAt: _, ...call } = read;
    return { kind: 'grant', ...call, mode, groups, runId, budget: budget.data, expiresAt: new Date(expiresAt * 1_000) };
  }

  return {
    open,
    async verify(token, run) {
      const grant = await open(token);
      if (grant.kind === 'refusal') return grant;
      if (grant.agentId !== run.agentId || grant.versionId !== run.versionId) return refuseToken('agent_wrong');
      const isSameChain =
        grant.actors.length === run.actors.length &&
        grant.actors.every((actor, at) => isSubject(actor, run.actors[at] ?? { issuer: '', subject: '' }));
      const isRun = run.runId === undefined || grant.runId === run.runId;
      const isSame = isRun && grant.tenant === run.tenant && isSubject(grant.subject, run.subject) && isSameChain;
      return isSame ? grant : refuseToken('run_wrong');
    },
  };
}
