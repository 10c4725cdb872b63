import { failure, success } from '#api/operation';
import { allowedProtocols } from '../access/agent-reach.ts';
import { describeRecord } from '../records/describe-record.ts';
import { findShownAgent } from '../records/read-agents.ts';
import type { CatalogueRequest, CatalogueResponse } from './catalogue.ts';

/**
 * One agent. The rights are asked from the side of the caller before the row is read, so that the same statements with the
 * same parameters and results run for a hidden agent and for a missing one (`catalogue:get:hidden-same-404`).
 */
export async function getAgent({ service, caller, path }: CatalogueRequest): Promise<CatalogueResponse> {
  const { database, relations } = service;
  const agentId = path('agentId');
  const [viewable, invocable] = await Promise.all([
    allowedProtocols(relations, caller, { right: 'view', agentId }),
    allowedProtocols(relations, caller, { right: 'invoke', agentId }),
  ]);
  const agent = await findShownAgent(database.sql, agentId, viewable);
  if (agent === undefined) return failure('not_found');
  if (agent.is_contested) return failure('identity_conflict');
  return success(describeRecord(agent, invocable.includes(agent.protocol)));
}
