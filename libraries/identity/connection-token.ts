import { randomUUID } from 'node:crypto';
import { connectionAudience } from '#contracts/connections';
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

const kind = { typ: 'portcullis-connection+jwt', longestSeconds: gatewayTokenLimits.workloadSeconds } as const;

type MintConnectionOptions = DelegatedCall & {
  readonly key: GatewayKey;
  readonly issuer: string;
  readonly connection: string;
  readonly ttlSeconds: number;
  readonly clock?: Clock;
};

/**
 * Signs the right of one version of an agent to call one connection in the name of a subject.
 * @throws UnsignableTokenError
 */
export async function mintConnectionToken(options: MintConnectionOptions): Promise<string> {
  const { clock = systemClock, connection } = options;
  const audience = connectionAudience(connection);
  return await signGatewayToken({ ...options, kind, audience, tokenId: randomUUID(), clock, claims: {} });
}

type ConnectionClient = DelegatedCall & { readonly kind: 'connection_client' };

export type ConnectionTokenVerifier = {
  /** Accepts a token for this connection until it expires. Never throws because of a token or a network. */
  verify(token: string, connection: string): Promise<ConnectionClient | GatewayTokenRefusal>;
};

/** Verifies the tokens with which agents call connections. */
export function createConnectionTokenVerifier(options: {
  readonly issuer: string;
  readonly jwks: KeyPlace;
  readonly clock?: Clock;
  readonly onUnavailable?: (error: KeysError) => void;
}): ConnectionTokenVerifier {
  const { issuer, clock = systemClock, onUnavailable } = options;
  const keys = openKeyCache(options.jwks, clock);
  return {
    async verify(token, connection) {
      const opened = await openGatewayToken(token, { kind, issuer, keys, onUnavailable });
      if (opened.kind === 'refusal') return opened;
      const { longestSeconds } = kind;
      const expected = { issuer, audience: connectionAudience(connection), longestSeconds, clock };
      const read = readGatewayClaims(opened.claims, expected);
      if (typeof read === 'string') return refuseToken(read);
      const { agentId, versionId, subject, actors } = read;
      return { kind: 'connection_client', agentId, versionId, subject, actors };
    },
  };
}
