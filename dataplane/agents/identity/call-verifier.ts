import { oneName } from '#identity/identity-headers';
import { isSentToThisMachine } from '#identity/is-sent-to-this-machine';
import type { ExecutionIdentity } from '../calls/agent-call.ts';
import { AgentError } from '../calls/agent-error.ts';

/** The name in workload tokens of every operation of the protocols, and of the reads of runs. */
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
 * Development mode, without authentication: the identity comes from X-User-Id, X-Agent-Id and X-Tenant-Id. The issuer
 * of these users cannot be named by a token. A request whose host name belongs to another site is refused.
 */
export function createHeaderVerifier(): CallVerifier {
  return {
    async verify(rawHeaders, operation) {
      // Only the gateway knows the owner of an agent.
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
