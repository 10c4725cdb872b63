import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '#kit/time/clock';
import {
  type DelegatedCall,
  type GatewayKey,
  type GatewayTokenRefusal,
  gatewayTokenLimits,
  openGatewayToken,
  readGatewayClaims,
  refuseToken,
  signGatewayToken,
} from './gateway-token.ts';
import { type KeyPlace, openKeyCache } from './key-cache.ts';
import type { KeysError } from './public-keys.ts';
import { own } from './read-token.ts';
import { UsedTokenIds } from './used-token-ids.ts';
import { isName } from './validate-claims.ts';

const kind = {
  typ: 'portcullis-workload+jwt',
  longestSeconds: gatewayTokenLimits.workloadSeconds,
  isUsedOnce: true,
} as const;
const scope = 'invoke';

/** The audience of one version of an agent. */
function workloadAudience({ agentId, versionId }: Pick<DelegatedCall, 'agentId' | 'versionId'>): string {
  return `urn:portcullis:agent:${encodeURIComponent(agentId)}:version:${encodeURIComponent(versionId)}`;
}

/** R1: listed confirmers only; R2: every caller whom the gateway admitted (`agents:mcp-auth:r1-only`). */
export type McpExposure = 'R1' | 'R2';

type MintWorkloadOptions = DelegatedCall & {
  readonly key: GatewayKey;
  readonly issuer: string;
  /** The operation of the protocol that the call requests, for example `message:send`. */
  readonly operation: string;
  /** Whom the agent admits over MCP; R1 when absent. */
  readonly exposure?: McpExposure;
  readonly ttlSeconds?: number;
  readonly clock?: Clock;
};

/**
 * Signs the identity of one call to one version of an agent, which the version accepts once.
 * @throws UnsignableTokenError
 */
export async function mintWorkloadToken(options: MintWorkloadOptions): Promise<string> {
  const { ttlSeconds = kind.longestSeconds, clock = systemClock, operation, exposure = 'R1' } = options;
  const claims = { operation, scope, ...(exposure === 'R1' ? {} : { exposure }) };
  const [audience, tokenId] = [workloadAudience(options), randomUUID()];
  return await signGatewayToken({ ...options, kind, audience, tokenId, ttlSeconds, clock, claims });
}

/** The identity of one call, as the gateway has verified it. */
type VerifiedCall = DelegatedCall & {
  readonly kind: 'workload';
  readonly operation: string;
  readonly exposure: McpExposure;
  readonly tokenId: string;
  readonly expiresAt: Date;
};

type WorkloadVerifierOptions = Pick<DelegatedCall, 'agentId' | 'versionId'> & {
  /** Claim `iss` of the gateway, compared exactly. */
  readonly issuer: string;
  /** The public keys of the gateway. */
  readonly jwks: KeyPlace;
  readonly clock?: Clock;
  /** Maximum number of ids of used tokens; a call beyond them is refused. */
  readonly usedIds?: number;
  readonly onUnavailable?: (error: KeysError) => void;
};

export type WorkloadVerifier = {
  /**
   * Accepts a token of this version for this operation once. Never throws because of a token or a network. A token that
   * is refused for another reason than `token_used` is not used.
   */
  verify(token: string, operation: string): Promise<VerifiedCall | GatewayTokenRefusal>;
};

/**
 * Verifies the workload tokens of one version of an agent. The ids of used tokens are kept by this process, so tokens
 * that were issued before it started are refused: another process may have accepted them.
 */
export function createWorkloadVerifier(options: WorkloadVerifierOptions): WorkloadVerifier {
  const { issuer, agentId, versionId, clock = systemClock, onUnavailable } = options;
  const keys = openKeyCache(options.jwks, clock);
  const used = new UsedTokenIds(options.usedIds ?? gatewayTokenLimits.usedIds);
  const expected = { issuer, audience: workloadAudience(options), longestSeconds: kind.longestSeconds, clock };
  const startedAt = Math.floor(clock.date().getTime() / 1_000);

  return {
    async verify(token, operation) {
      const opened = await openGatewayToken(token, { kind, issuer, keys, onUnavailable });
      if (opened.kind === 'refusal') return opened;
      const { claims } = opened;
      const read = readGatewayClaims(claims, expected);
      if (typeof read === 'string') return refuseToken(read);
      if (read.agentId !== agentId || read.versionId !== versionId) return refuseToken('agent_wrong');
      if (own(claims, 'scope') !== scope) return refuseToken('scope_wrong');
      const forOperation = own(claims, 'operation');
      if (!isName(forOperation) || forOperation !== operation) return refuseToken('operation_wrong');
      const given = own(claims, 'exposure');
      const exposure = given === undefined ? 'R1' : given;
      if (exposure !== 'R1' && exposure !== 'R2') return refuseToken('claims_invalid');
      if (read.issuedAt < startedAt) return refuseToken('issued_before_start');
      // No await separates the last check from this entry, so that only one of two equal concurrent tokens is accepted.
      const end = read.expiresAt + gatewayTokenLimits.skewSeconds;
      switch (used.add(read.tokenId, end, clock.date().getTime() / 1_000)) {
        case 'repeated':
          return refuseToken('token_used');
        case 'full':
          return refuseToken('token_store_full');
        case 'too_late':
          return refuseToken('expired');
        case 'added': {
          const { issuedAt: _, expiresAt, ...call } = read;
          return { kind: 'workload', ...call, operation, exposure, expiresAt: new Date(expiresAt * 1_000) };
        }
      }
    },
  };
}
