import { failure, success } from '#api/operation';
import { judgeAgents, reachOf } from '../access/agent-reach.ts';
import { describeRecord } from '../records/describe-record.ts';
import { findAgentById } from '../records/read-agents.ts';
import type { CatalogueRequest, CatalogueResponse } from './catalogue.ts';

/**
 * One agent. For a hidden and for a missing one the same statements run and the same answer is given
 * (`catalogue:get:hidden-same-404`).
 */
export async function getAgent({ service, caller, path }: CatalogueRequest): Promise<CatalogueResponse> {
  const { database, relations } = service;
  const agentId = path('agentId');
  const [mayView, mayInvoke, agent] = await Promise.all([
    reachOf(relations, caller, 'view'),
    reachOf(relations, caller, 'invoke'),
    findAgentById(database.sql, agentId),
  ]);
  const judged = [{ agent_id: agentId, protocol: agent?.protocol ?? 'a2a' }];
  const [[isVisible], [isInvocable]] = await Promise.all([
    judgeAgents(relations, caller, { right: 'view', reach: mayView, agents: judged }),
    judgeAgents(relations, caller, { right: 'invoke', reach: mayInvoke, agents: judged }),
  ]);
  const isShown = agent !== undefined && agent.state !== 'degraded' && isVisible === true;
  if (!isShown) return failure('not_found');
  if (agent.is_contested) return failure('identity_conflict');
  return success(describeRecord(agent, isInvocable === true));
}
