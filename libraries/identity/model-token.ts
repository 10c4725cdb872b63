import { randomUUID } from 'node:crypto';
import { z } from 'zod';
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
  UnsignableTokenError,
} from './gateway-token.ts';
import { type KeyPlace, openKeyCache } from './key-cache.ts';
import type { KeysError } from './public-keys.ts';
import { own } from './read-token.ts';

const kind = { typ: 'portcullis-models+jwt', longestSeconds: gatewayTokenLimits.workloadSeconds } as const;
const audience = 'urn:portcullis:models';
const aliasesSchema = z.array(z.string().min(1).max(128)).max(gatewayTokenLimits.aliases);

type MintModelOptions = DelegatedCall & {
  readonly key: GatewayKey;
  readonly issuer: string;
  /** The models that the version requires. */
  readonly aliases: readonly string[];
  readonly ttlSeconds?: number;
  readonly clock?: Clock;
};

/**
 * Signs the right of one version of an agent to call its required models in the name of a subject.
 * @throws UnsignableTokenError
 */
export async function mintModelToken(options: MintModelOptions): Promise<string> {
  const { ttlSeconds = kind.longestSeconds, clock = systemClock } = options;
  const aliases = aliasesSchema.safeParse(options.aliases);
  if (!aliases.success) throw new UnsignableTokenError('claims_invalid');
  const claims = { aliases: aliases.data };
  return await signGatewayToken({ ...options, kind, audience, tokenId: randomUUID(), ttlSeconds, clock, claims });
}

/** An agent as a client of the model routes. */
type ModelClient = DelegatedCall & {
  readonly kind: 'model_client';
  /** The only models that it may call. */
  readonly aliases: ReadonlySet<string>;
};

export type ModelTokenVerifier = {
  /** Accepts a token until it expires. Never throws because of a token or a network. */
  verify(token: string): Promise<ModelClient | GatewayTokenRefusal>;
};

/** Verifies the tokens with which agents call models. */
export function createModelTokenVerifier(options: {
  readonly issuer: string;
  readonly jwks: KeyPlace;
  readonly clock?: Clock;
  readonly onUnavailable?: (error: KeysError) => void;
}): ModelTokenVerifier {
  const { issuer, clock = systemClock, onUnavailable } = options;
  const keys = openKeyCache(options.jwks, clock);
  const expected = { issuer, audience, longestSeconds: kind.longestSeconds, clock };
  return {
    async verify(token) {
      const opened = await openGatewayToken(token, { kind, issuer, keys, onUnavailable });
      if (opened.kind === 'refusal') return opened;
      const read = readGatewayClaims(opened.claims, expected);
      if (typeof read === 'string') return refuseToken(read);
      const aliases = aliasesSchema.safeParse(own(opened.claims, 'aliases'));
      if (!aliases.success) return refuseToken('claims_invalid');
      const { agentId, versionId, subject, actors } = read;
      return { kind: 'model_client', agentId, versionId, subject, actors, aliases: new Set(aliases.data) };
    },
  };
}
