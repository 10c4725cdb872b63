import type { Subject } from '#identity/identity';
import type { ModelTokenVerifier } from '#identity/model-token';
import { bearerToken } from '#kit/http/bearer';
import { type Clock, systemClock } from '#kit/time/clock';
import type { ClientErrorCode } from '../relay/client-error.ts';
import type { ClientKeys } from './client-keys.ts';

/** Characters of the id of an agent that are kept as the name of the client. */
const maxNameLength = 64;

/** An agent that calls a model, and the person for whom it does. */
export type AgentRun = { readonly agentId: string; readonly person: Subject };

/** A client and the models that it may call: all models, or those of its key or token. */
type AdmittedClient = {
  readonly kind: 'client';
  readonly name?: string;
  /** Whose requests share the bytes that the gateway holds; absent if clients are not told apart. */
  readonly caller?: string;
  readonly aliases?: ReadonlySet<string>;
  readonly dailyTokens?: number;
  readonly run?: AgentRun;
};
type ClientRefusal = {
  readonly kind: 'refused';
  readonly code: Extract<ClientErrorCode, 'unauthenticated' | 'identity_unavailable' | 'rate_limit_exceeded'>;
  /** Seconds after which the client may send the request again. */
  readonly retryAfter?: number;
  /** The name of a client that is known. */
  readonly name?: string;
};

/** Authenticates clients: people and services by client keys, agents by tokens of the gateway. */
export type ClientAdmission = {
  admit(rawHeaders: readonly string[]): Promise<AdmittedClient | ClientRefusal>;
};

/**
 * Without a verifier no token is accepted. The value is compared with the client keys first, so that its form does not
 * matter.
 */
export function createClientAdmission(
  keys: ClientKeys,
  tokens: ModelTokenVerifier | undefined,
  clock: Pick<Clock, 'now'> = systemClock,
): ClientAdmission {
  return {
    async admit(rawHeaders) {
      const known = keys.admits(rawHeaders);
      if (known !== undefined) {
        const { limit, ...client } = known;
        const waitMs = limit?.take(clock.now()) ?? 0;
        if (waitMs === 0) return { kind: 'client', ...client };
        const name = client.name === undefined ? {} : { name: client.name };
        return { kind: 'refused', code: 'rate_limit_exceeded', retryAfter: Math.ceil(waitMs / 1_000), ...name };
      }
      const bearer = bearerToken(rawHeaders);
      if (tokens === undefined || !bearer.ok) return { kind: 'refused', code: 'unauthenticated' };
      const found = await tokens.verify(bearer.token);
      if (found.kind === 'model_client') {
        const { agentId, aliases, subject: person } = found;
        return {
          kind: 'client',
          name: agentId.slice(0, maxNameLength),
          caller: `agent ${agentId}`,
          aliases,
          run: { agentId, person },
        };
      }
      return { kind: 'refused', code: found.status === 503 ? 'identity_unavailable' : 'unauthenticated' };
    },
  };
}
