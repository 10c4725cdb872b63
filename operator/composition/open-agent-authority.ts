import type { Logger } from '#kit/log/logger';
import { awaitRelations } from '#relations/adapters/await-relations';
import { rightsOnAgents } from '../access/rights-on-agents.ts';
import type { AgentAuthority } from '../controllers/agent/controller.ts';
import type { AuthorityAccess } from './operator-config.ts';

/** Maximum number of connections of the operator to the database of rights; the chart counts them. */
const mostConnections = 3;

/**
 * The store of relations that a configuration names. The caller disposes the rights that it receives.
 * @param writesAllowed whether this process is the leader at that moment
 */
export function openAgentAuthority(
  access: AuthorityAccess | undefined,
  logger: Pick<Logger, 'info' | 'warn' | 'error'>,
  writesAllowed: () => boolean,
): AgentAuthority | undefined {
  if (access === undefined) return undefined;
  const { issuer, exposure, ...config } = access;
  const relations = awaitRelations(config, { applicationName: 'portcullis-operator', max: mostConnections, logger });
  return { rights: rightsOnAgents(relations, writesAllowed), issuer, exposure };
}
