import { readBearer } from '#identity/read-bearer';
import { grantHeader } from '#identity/run-grant';
import { createWorkloadVerifier } from '#identity/workload-token';
import { headerValues } from '#kit/http/raw-headers';
import { AgentError } from '../calls/agent-error.ts';
import type { CallVerifier } from './call-verifier.ts';

/** @throws AgentError unauthenticated if the header is repeated */
function grantOf(rawHeaders: readonly string[]): string | undefined {
  const [grant, ...more] = headerValues(rawHeaders, grantHeader);
  if (more.length > 0) throw new AgentError('unauthenticated');
  return grant;
}

type TokenVerifierOptions = Omit<Parameters<typeof createWorkloadVerifier>[0], 'onUnavailable'> & {
  /** Called when the keys of the gateway cannot be loaded. */
  readonly onUnavailable: () => void;
};

/**
 * Production mode: each call carries a token that the gateway signed for this version and operation, and each token is
 * accepted once (`agents:internal-address:not-for-clients`). No other header identifies a caller.
 */
export function createTokenVerifier(options: TokenVerifierOptions): CallVerifier {
  const verifier = createWorkloadVerifier(options);
  return {
    async verify(rawHeaders, operation) {
      const bearer = readBearer(rawHeaders);
      if (bearer.kind === 'refusal') throw new AgentError('unauthenticated');
      const found = await verifier.verify(bearer.token, operation);
      if (found.kind === 'workload') {
        const { subject, actors, tenant } = found;
        return { subject, actors, tenant, grant: grantOf(rawHeaders) };
      }
      if (found.status === 503) throw new AgentError('identity_unavailable');
      throw new AgentError(found.code === 'scope_wrong' ? 'forbidden' : 'unauthenticated');
    },
  };
}
