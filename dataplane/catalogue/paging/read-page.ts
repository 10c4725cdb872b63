import type { Relations } from '#relations/ports';
import type { Sql } from '#sql/connect';
import { type AgentReach, judgeAgents } from '../access/agent-reach.ts';
import type { CatalogueCaller } from '../access/catalogue-caller.ts';
import type { AgentContent } from '../records/agent-content.ts';
import { type AgentFilters, readAgents } from '../records/read-agents.ts';

type PageParts = { readonly sql: Sql; readonly relations: Pick<Relations, 'check' | 'objectsOf'> };
type Page = { readonly agents: readonly AgentContent[]; readonly hasMore: boolean };
type PageQuery = {
  readonly caller: CatalogueCaller;
  /** What the caller may view. */
  readonly reach: AgentReach;
  readonly filters: AgentFilters;
  readonly after: string | undefined;
  readonly limit: number;
};

/** Agents of one statement. */
const batch = 100;

/**
 * One page of the agents that a caller may view. Rights are part of the candidate loop, so that a page is full whenever
 * there are enough agents, and neither its size nor its cost tells about others (docs/design/catalogue.md).
 */
export async function readPage(
  { sql, relations }: PageParts,
  { caller, reach, filters, after, limit }: PageQuery,
): Promise<Page> {
  if (reach.kind === 'listed') return await readListed(sql, reach, { filters, after, limit });
  const kept: AgentContent[] = [];
  let from = after;
  while (kept.length <= limit) {
    const found = await readAgents(sql, { filters, after: from, limit: batch });
    const allowed = await judgeAgents(relations, caller, { right: 'view', reach, agents: found });
    kept.push(...found.filter((_agent, at) => allowed[at]));
    const last = found.at(-1);
    if (last === undefined || found.length < batch) break;
    from = last.agent_id;
  }
  return { agents: kept.slice(0, limit), hasMore: kept.length > limit };
}

/** Reads by the ids that the caller reaches, so that agents that are hidden from it cost nothing. */
async function readListed(
  sql: Sql,
  reach: Extract<AgentReach, { readonly kind: 'listed' }>,
  { filters, after = '', limit }: Pick<PageQuery, 'filters' | 'after' | 'limit'>,
): Promise<Page> {
  const own = new Set(reach.own);
  const ids = [...new Set([...reach.own, ...reach.overA2a])].filter((id) => id > after).toSorted();
  const kept: AgentContent[] = [];
  for (let from = 0; from < ids.length && kept.length <= limit; from += batch) {
    const part = ids.slice(from, from + batch);
    const among = { ids: part, own: part.filter((id) => own.has(id)) };
    kept.push(...(await readAgents(sql, { filters, among, after: undefined, limit: batch })));
  }
  return { agents: kept.slice(0, limit), hasMore: kept.length > limit };
}
