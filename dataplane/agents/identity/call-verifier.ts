import { oneName } from '#identity/identity-headers';
import { isSentToThisMachine } from '#identity/is-sent-to-this-machine';
import type { ExecutionIdentity } from '../calls/agent-call.ts';
import { AgentError } from '../calls/agent-error.ts';

/** Every operation of the protocols, and the reads of runs, by its name in workload tokens. */
export const callOperations = [
  'message:send',
  'message:stream',
  'tasks:get',
  'tasks:list',
  'tasks:cancel',
  'tasks:subscribe',
  'tasks:push',
  'card:extended',
  'mcp',
  'runs:own',
  'runs:all',
] as const;
export type CallOperation = (typeof callOperations)[number];

/**
 * Step two: determines the identity and the right to execute from headers only.
 * @throws AgentError unauthenticated, forbidden, identity_unavailable
 */
export type CallVerifier = {
  verify(rawHeaders: readonly string[], operation: CallOperation): Promise<ExecutionIdentity>;
};

/**
 * Development mode, without authentication: the identity comes from X-User-Id, X-Agent-Id and X-Tenant-Id. Its users
 * belong to an issuer that no token can name. A request for the name of another site is refused.
 */
export function createHeaderVerifier(): CallVerifier {
  return {
    async verify(rawHeaders, operation) {
      // Only the gateway can tell who owns an agent.
      if (operation === 'runs:all') throw new AgentError('forbidden');
      if (!isSentToThisMachine(rawHeaders)) throw new AgentError('unauthenticated');
      const [user, agent, tenant] = ['x-user-id', 'x-agent-id', 'x-tenant-id'].map((name) => oneName(rawHeaders, name));
      if (typeof user !== 'string' || typeof agent === 'object' || typeof tenant === 'object') {
        throw new AgentError('unauthenticated');
      }
      const issuer = 'development:agents';
      const actors = agent === undefined ? [] : [{ issuer, subject: agent }];
      return { subject: { issuer, subject: user }, actors, tenant, exposure: 'R1', grant: undefined };
    },
  };
}
