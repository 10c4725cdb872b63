import type { Relations } from '#relations/ports';
import type { Sql } from '#sql/connect';
import { type AgentReach, judgeAgents } from '../access/agent-reach.ts';
import type { CatalogueCaller } from '../access/catalogue-caller.ts';
import type { AgentContent } from '../records/agent-content.ts';
import { type AgentFilters, readAgents } from '../records/read-agents.ts';

type PageParts = { readonly sql: Sql; readonly relations: Pick<Relations, 'check' | 'objectsOf'> };
type PageQuery = {
  readonly caller: CatalogueCaller;
  /** What the caller may view. */
  readonly reach: AgentReach;
  readonly filters: AgentFilters;
  readonly after: string | undefined;
  readonly limit: number;
};

/** Agents that are judged one by one at a time, for a caller whose reach the store does not list. */
const batch = 100;

/**
 * One page of the agents that a caller may view. Rights are part of the candidate loop, so that a page is full whenever
 * there are enough agents, and neither its size nor its cost tells about others (docs/design/catalogue.md).
 */
export async function readPage(
  { sql, relations }: PageParts,
  { caller, reach, filters, after, limit }: PageQuery,
): Promise<{ readonly agents: readonly AgentContent[]; readonly hasMore: boolean }> {
  if (reach.kind === 'listed') {
    const found = await readAgents(sql, { filters, candidates: reach, after, limit: limit + 1 });
    return { agents: found.slice(0, limit), hasMore: found.length > limit };
  }
  const kept: AgentContent[] = [];
  let from = after;
  while (kept.length <= limit) {
    const found = await readAgents(sql, { filters, candidates: 'all', after: from, limit: batch });
    const allowed = await judgeAgents(relations, caller, { right: 'view', reach, agents: found });
    kept.push(...found.filter((_agent, at) => allowed[at]));
    const last = found.at(-1);
    if (last === undefined || found.length < batch) break;
    from = last.agent_id;
  }
  return { agents: kept.slice(0, limit), hasMore: kept.length > limit };
}
