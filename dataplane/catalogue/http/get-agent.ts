import { failure, success } from '#api/operation';
import { allowedProtocols } from '../access/agent-reach.ts';
import { judgeAgents } from '../access/judge-agents.ts';
import { describeRecord } from '../records/describe-record.ts';
import { findShownAgent } from '../records/read-agents.ts';
import type { CatalogueRequest, CatalogueResponse } from './catalogue.ts';

/**
 * One agent. The rights are checked from the side of the caller before the row is read, so that a hidden agent and a
 * missing agent cause the same statements with the same parameters and results (`catalogue:get:hidden-same-404`). The
 * rights on the agent that was read are checked again.
 */
export async function getAgent({ service, caller, path }: CatalogueRequest): Promise<CatalogueResponse> {
  const { database, relations } = service;
  const agentId = path('agentId');
  const viewing = { relations, caller, right: 'view' } as const;
  const viewable = await allowedProtocols(viewing, agentId);
  const agent = await findShownAgent(database.sql, agentId, viewable);
  if (agent === undefined) return failure('not_found');
  const [[isViewable], [isInvocable]] = await Promise.all([
    judgeAgents(viewing, [agent]),
    judgeAgents({ ...viewing, right: 'invoke' }, [agent]),
  ]);
  if (!isViewable) return failure('not_found');
  if (agent.is_contested) return failure('identity_conflict');
  return success(describeRecord(agent, isInvocable === true));
}
