import type { SearchProfile } from '#contracts/catalogue';
import { embedText } from '#models/embed-text';
import type { EmbeddingProfile, Models } from '#models/ports';
import type { Relations } from '#relations/ports';
import type { AttributeCondition } from '#search/condition';
import type { Leg, SearchIndex } from '#search/ports';
import type { Database, Sql } from '#sql/connect';
import { wholeReach } from '../access/agent-reach.ts';
import type { CatalogueCaller } from '../access/catalogue-caller.ts';
import { judgeAgents } from '../access/judge-agents.ts';
import type { AgentContent, ReadAgent } from '../records/agent-content.ts';
import { isId, readAgents, readAgentsById } from '../records/read-agents.ts';
import { labelOverA2a, newestChange, partitionOf } from './agent-source.ts';
import { subjectTerms } from './function-words.ts';
import { type ScoredAgent, scoreAgents } from './score-agents.ts';
import type { SimilarityFloor } from './similarity-floor.ts';

export type AgentSearchPorts = {
  readonly database: Pick<Database, 'sql'>;
  readonly relations: Pick<Relations, 'nextObjects' | 'checkEach'>;
  readonly index: SearchIndex;
  readonly models: Models;
  /** The profile of the vectors; undefined where agents are found by their words only. */
  readonly profile: () => EmbeddingProfile | undefined;
  /** The minimum similarity of a description to a query for its vector to count. */
  readonly floor: SimilarityFloor;
};

type AgentSearch = {
  readonly caller: CatalogueCaller;
  readonly query: string;
  readonly workspaceId: string;
  readonly profile: SearchProfile;
  readonly protocols: readonly string[] | undefined;
  readonly implementationTypes: readonly string[] | undefined;
  readonly topK: number;
  readonly minScore: number;
  readonly call: { readonly signal: AbortSignal; readonly traceparent: string };
};

type FoundAgent = { readonly agent: ReadAgent; readonly score: number };

/** How many agents one batch has, for a caller for whom the store does not list the reachable agents. */
const batch = 1_000;
/** How many ids the first statement has that searches for an agent of the workspace, and later statements. */
const lookedUp = { first: 250, growth: 5, most: 10_000 } as const;

/**
 * The agents that belong best to a query among those that the caller may invoke, best first. Both rankings and the
 * frequencies of terms are computed from these agents only, so that other agents change neither the matches nor their
 * order (`catalogue:search:hybrid`). A score is the share of the highest possible one: 1 for the first of every
 * ranking. An agent that neither a word nor its vector relates to the query is no match
 * (`catalogue:search-response:empty`).
 * @throws RelationsUnavailableError, SearchUnavailableError, ModelsError, SqlUnavailableError: never an empty answer
 * instead
 */
export async function searchAgents(ports: AgentSearchPorts, search: AgentSearch): Promise<readonly FoundAgent[]> {
  const { database, index } = ports;
  const { workspaceId, topK, minScore, call } = search;
  const reach = await invocable(ports, search);
  // The query, the floor and the index use the same profile, even if the profile is changed meanwhile.
  const profile = ports.profile();
  const { legs, floor } = await legsOf(ports, search, profile);
  // This check is first, so that a workspace of hidden agents causes the same statements as a missing one.
  if (!(await hasEntry(database.sql, workspaceId, reach))) return [];
  // The change number is read after the rights, so that the index contains every agent that the rights may name.
  const changeNo = await newestChange(database.sql, workspaceId);
  if (changeNo === undefined) return [];
  const rankings = await index.candidates(
    {
      partition: partitionOf(workspaceId, profile),
      reflects: changeNo,
      labels: [...reach.own, ...reach.everyone.map(labelOverA2a)],
      ...conditionOf(search),
      legs,
      window: Math.max(50, 4 * topK),
    },
    call.signal,
  );
  const scored = scoreAgents(rankings, floor).filter(({ score }) => score >= minScore);
  const matches: FoundAgent[] = [];
  for (let from = 0; from < scored.length && matches.length < topK; from += topK) {
    matches.push(...(await presentOf(ports, search, scored.slice(from, from + topK))));
  }
  return matches.slice(0, topK);
}

/** The agents that fit the search and that the caller may invoke, now that the index has answered. */
async function presentOf(
  { database, relations }: AgentSearchPorts,
  search: AgentSearch,
  scored: readonly ScoredAgent[],
): Promise<readonly FoundAgent[]> {
  const ids = scored.map(({ agentId }) => agentId);
  const agents = await readAgentsById(database.sql, ids);
  const current = scored.flatMap(({ agentId, score }) => {
    const agent = agents.get(agentId);
    return agent !== undefined && isCandidate(agent, search) ? [{ agent, score }] : [];
  });
  const judged = current.map(({ agent }) => agent);
  const allowed = await judgeAgents({ relations, caller: search.caller, right: 'invoke' }, judged);
  return current.filter((_one, at) => allowed[at]);
}

/** Whether the stored state of an agent matches a search. */
function isCandidate(agent: AgentContent, { workspaceId, protocols, implementationTypes }: AgentSearch): boolean {
  return (
    agent.state === 'active' &&
    !agent.is_contested &&
    agent.workspace === workspaceId &&
    protocols?.includes(agent.protocol) !== false &&
    implementationTypes?.includes(agent.implementation_type) !== false
  );
}

/**
 * Whether the workspace has an agent that the caller reaches. Without one the index is not queried: neither the time
 * nor the memory of loading a workspace reveals agents that are hidden from the caller, and no other workspace is
 * evicted.
 */
async function hasEntry(sql: Sql, workspace: string, { own, everyone }: Invocable): Promise<boolean> {
  let size: number = lookedUp.first;
  for (let from = 0; from < Math.max(own.length, everyone.length); from += size) {
    if (from > 0) size = Math.min(lookedUp.most, size * lookedUp.growth);
    const [always, overA2a] = [own, everyone].map((ids) => ids.slice(from, from + size).filter(isId));
    const [found] = await sql`
      select from catalogue.entries where workspace = ${workspace} and is_listed
        and (agent_id = any(${sql.array(always ?? [])}::uuid[])
          or (protocol = 'a2a' and agent_id = any(${sql.array(overA2a ?? [])}::uuid[]))) limit 1`;
    if (found !== undefined) return true;
  }
  return false;
}

type SearchLegs = { readonly legs: readonly Leg[]; readonly floor: number };

async function legsOf(
  { models, floor }: AgentSearchPorts,
  search: AgentSearch,
  profile: EmbeddingProfile | undefined,
): Promise<SearchLegs> {
  const byTerms: Leg = { kind: 'bm25', terms: subjectTerms(search.query) };
  const approved = search.profile === 'hybrid' ? profile : undefined;
  if (approved === undefined) return { legs: [byTerms], floor: 0 };
  const [bound, vector] = await Promise.all([
    floor.of(approved, search.call),
    embedText(models, { profile: approved, use: 'query', text: search.query }, search.call),
  ]);
  return vector === undefined
    ? { legs: [byTerms], floor: 0 }
    : { legs: [byTerms, { kind: 'vector', vector }], floor: bound };
}

/** Absent where a search has no filter: the index then reads no attribute. */
function conditionOf({ protocols, implementationTypes }: AgentSearch): { readonly condition?: AttributeCondition } {
  const among = (path: string, value: readonly string[] | undefined): readonly AttributeCondition[] =>
    value === undefined ? [] : [{ path, op: 'in', value }];
  const and = [...among('protocol', protocols), ...among('implementationType', implementationTypes)];
  return and.length === 0 ? {} : { condition: { and } };
}

type Invocable = Record<'own' | 'everyone', readonly string[]>;

/**
 * The agents that the caller may invoke; only those of the workspace, if the store does not list the reachable agents.
 */
async function invocable({ relations, database }: AgentSearchPorts, search: AgentSearch): Promise<Invocable> {
  const { caller, workspaceId, call } = search;
  const rights = { relations, caller, right: 'invoke' } as const;
  const reach = await wholeReach(rights, call.signal);
  if (reach.kind === 'listed') return reach;
  const own: string[] = [];
  for (let after: string | undefined; ; ) {
    call.signal.throwIfAborted();
    const filters = { state: 'active', workspaceId } as const;
    const agents = await readAgents(database.sql, { filters, after, limit: batch });
    const allowed = await judgeAgents(rights, agents);
    own.push(...agents.filter((_agent, at) => allowed[at]).map((agent) => agent.agent_id));
    if (agents.length < batch) return { own, everyone: [] };
    after = agents.at(-1)?.agent_id;
  }
}
