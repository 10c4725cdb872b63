import type { Relations } from '#relations/ports';
import type { Sql } from '#sql/connect';
import { nextReach, wideReach } from '../access/agent-reach.ts';
import type { CatalogueCaller } from '../access/catalogue-caller.ts';
import { judgeAgents } from '../access/judge-agents.ts';
import type { ReadAgent } from '../records/agent-content.ts';
import { type AgentFilters, isId, readAgents } from '../records/read-agents.ts';

type PageParts = {
  readonly sql: Sql;
  readonly relations: Pick<Relations, 'nextObjects' | 'checkEach'>;
  /** Stops the reading: with rights on many agents and a filter that few fulfil, a page reads all of them. */
  readonly signal: AbortSignal;
};
type ShownAgent = { readonly agent: ReadAgent; readonly isInvocable: boolean };
type Page = { readonly agents: readonly ShownAgent[]; readonly hasMore: boolean };
type PageQuery = {
  readonly caller: CatalogueCaller;
  readonly filters: AgentFilters;
  readonly after: string | undefined;
  readonly limit: number;
};
/** The agents of one read; `from` is the id at which the next read begins, undefined after the last read. */
type Part = { readonly agents: readonly ReadAgent[]; readonly from: string | undefined };

/**
 * How many agents the first question about a page covers, and later questions: few pages of a caller without filters
 * need a second question.
 */
const sizes = { first: 200, growth: 5, most: 5_000 } as const;
/** How many agents one statement reads for a caller for whom the store does not list the reachable agents. */
const walked = 250;

/**
 * One page of the agents that a caller may view. Rights are part of the candidate loop, so that a page is full whenever
 * there are enough agents, and neither its size nor its cost reveals agents that the caller may not view
 * (docs/design/catalogue.md). The rights on the read agents are checked again: agents whose right was withdrawn
 * meanwhile are not returned.
 * @throws RelationsUnavailableError, SqlUnavailableError, and the reason of the signal
 */
export async function readPage(parts: PageParts, { caller, filters, after, limit }: PageQuery): Promise<Page> {
  const { sql, relations, signal } = parts;
  const viewing = { relations, caller, right: 'view' } as const;
  const kept: ShownAgent[] = [];
  let last = after;
  let size = Math.max(sizes.first, limit + 1);
  let isWide = false;
  for (let from: string | undefined = after ?? ''; from !== undefined && kept.length <= limit; ) {
    signal.throwIfAborted();
    const need = limit + 1 - kept.length;
    const part: Part = await readPart({ from, size, after: last, need });
    kept.push(...(await shown(part.agents)));
    last = part.agents.at(-1)?.agent_id ?? last;
    from = part.from;
    size = Math.min(sizes.most, size * sizes.growth);
  }
  return { agents: kept.slice(0, limit), hasMore: kept.length > limit };

  type PartQuery = {
    readonly from: string;
    readonly size: number;
    readonly after: string | undefined;
    readonly need: number;
  };

  async function readPart({ from, size, after, need }: PartQuery): Promise<Part> {
    const reach = isWide ? wideReach : await nextReach(viewing, { from, limit: size }, signal);
    if (reach.kind === 'wide') {
      isWide = true;
      const agents = await readAgents(sql, { filters, after, limit: walked });
      return { agents, from: agents.length < walked ? undefined : agents.at(-1)?.agent_id };
    }
    const among = { own: reach.own.filter(isId), everyone: reach.everyone.filter(isId) };
    const agents = await readAgents(sql, { filters, among, after, limit: need });
    return { agents, from: agents.length < need ? reach.next : agents.at(-1)?.agent_id };
  }

  async function shown(agents: readonly ReadAgent[]): Promise<readonly ShownAgent[]> {
    const [viewable, invocable] = await Promise.all([
      judgeAgents(viewing, agents),
      judgeAgents({ ...viewing, right: 'invoke' }, agents),
    ]);
    return agents.flatMap((agent, at) => (viewable[at] ? [{ agent, isInvocable: invocable[at] === true }] : []));
  }
}
