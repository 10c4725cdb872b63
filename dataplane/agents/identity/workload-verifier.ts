import type { DelegatedCall } from '#identity/gateway-token';
import { readBearer } from '#identity/read-bearer';
import { createRunGrantVerifier, grantHeader } from '#identity/run-grant';
import { createWorkloadVerifier } from '#identity/workload-token';
import { headerValues } from '#kit/http/raw-headers';
import type { CallGrant } from '../calls/agent-call.ts';
import { AgentError } from '../calls/agent-error.ts';
import type { CallVerifier } from './call-verifier.ts';

type TokenVerifierOptions = Omit<Parameters<typeof createWorkloadVerifier>[0], 'onUnavailable'> & {
  /** Called when the keys of the gateway cannot be loaded. */
  readonly onUnavailable: () => void;
};

/**
 * Production mode: each call has a token that the gateway signed for this version and operation, and each token is
 * accepted once (`agents:internal-address:not-for-clients`). No other header identifies a caller. The grant of a run
 * must belong to the same call.
 */
export function createTokenVerifier(options: TokenVerifierOptions): CallVerifier {
  const verifier = createWorkloadVerifier(options);
  const grants = createRunGrantVerifier(options);

  async function grantOf(rawHeaders: readonly string[], call: DelegatedCall): Promise<CallGrant | undefined> {
    const [token, ...more] = headerValues(rawHeaders, grantHeader);
    if (more.length > 0) throw new AgentError('unauthenticated');
    if (token === undefined) return undefined;
    const found = await grants.verify(token, call);
    if (found.kind === 'grant') return { token, budget: found.budget, expiresAt: found.expiresAt };
    throw new AgentError(found.status === 503 ? 'identity_unavailable' : 'unauthenticated');
  }

  return {
    async verify(rawHeaders, operation) {
      const bearer = readBearer(rawHeaders);
      if (bearer.kind === 'refusal') throw new AgentError('unauthenticated');
      const found = await verifier.verify(bearer.token, operation);
      if (found.kind === 'workload') {
        const { subject, actors, tenant, exposure } = found;
        return { subject, actors, tenant, exposure, grant: await grantOf(rawHeaders, found) };
      }
      if (found.status === 503) throw new AgentError('identity_unavailable');
      throw new AgentError(found.code === 'scope_wrong' ? 'forbidden' : 'unauthenticated');
    },
  };
}
