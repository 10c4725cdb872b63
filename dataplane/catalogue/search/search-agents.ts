import type { EmbeddingProfile, Models } from '#models/ports';
import type { Relations } from '#relations/ports';
import { analyse } from '#search/analysis/analyse';
import type { AttributeCondition } from '#search/condition';
import { bestRank, fuseRankings } from '#search/fuse-rankings';
import type { Leg, SearchIndex } from '#search/ports';
import type { Database } from '#sql/connect';
import { judgeAgents, reachOf } from '../access/agent-reach.ts';
import type { CatalogueCaller } from '../access/catalogue-caller.ts';
import type { AgentContent } from '../records/agent-content.ts';
import { readAgents, readAgentsById } from '../records/read-agents.ts';
import { agentOfEntry, labelOverA2a, newestChange } from './agent-source.ts';

export type AgentSearchPorts = {
  readonly database: Pick<Database, 'sql'>;
  readonly relations: Pick<Relations, 'check' | 'objectsOf'>;
  readonly index: SearchIndex;
  readonly models: Models;
  /** The profile of the vectors; undefined where agents are found by their words only. */
  readonly profile: () => EmbeddingProfile | undefined;
};

type AgentSearch = {
  readonly caller: CatalogueCaller;
  readonly query: string;
  readonly workspaceId: string;
  readonly profile: 'hybrid' | 'terms';
  readonly protocols: readonly string[] | undefined;
  readonly implementationTypes: readonly string[] | undefined;
  readonly topK: number;
  readonly minScore: number;
  readonly call: { readonly signal: AbortSignal; readonly traceparent: string };
};

type FoundAgent = { readonly agent: AgentContent; readonly score: number };

/** Agents of one batch, for a caller whose reach the store does not list. */
const batch = 200;

/**
 * The agents that belong best to a query among those that the caller may invoke, best first. Both rankings and the
 * frequencies of terms are computed within these, so that other agents change neither the matches nor their order
 * (`catalogue:search:hybrid`). A score is the share of the highest possible one: 1 for the first of every ranking.
 * @throws RelationsUnavailableError, SearchUnavailableError, ModelsError, SqlUnavailableError: never an empty answer instead
 */
export async function searchAgents(ports: AgentSearchPorts, search: AgentSearch): Promise<readonly FoundAgent[]> {
  const { database, index } = ports;
  const { workspaceId, topK, minScore, call } = search;
  const labels = await invocableLabels(ports, search);
  const legs = await legsOf(ports, search);
  // Read after the rights: the index then knows every agent that they may name.
  const changeNo = await newestChange(database.sql, workspaceId);
  if (changeNo === undefined) return [];
  const rankings = await index.candidates(
    {
      partition: workspaceId,
      reflects: changeNo,
      labels,
      condition: conditionOf(search),
      legs,
      window: Math.max(50, 4 * topK),
    },
    call.signal,
  );
  const fused = fuseRankings(rankings.map((candidates) => ({ candidates, weight: 1 })));
  const scored = fused
    .map(({ id, score }) => ({ agentId: agentOfEntry(id), score: score / (bestRank * legs.length) }))
    .filter(({ score }) => score >= minScore)
    .slice(0, topK);
  const agents = await readAgentsById(
    database.sql,
    scored.map(({ agentId }) => agentId),
  );
  return scored.flatMap(({ agentId, score }) => {
    const agent = agents.get(agentId);
    return agent?.state === 'active' && agent.workspace === workspaceId ? [{ agent, score }] : [];
  });
}

async function legsOf({ models, profile }: AgentSearchPorts, search: AgentSearch): Promise<readonly Leg[]> {
  const byTerms: Leg = { kind: 'bm25', terms: analyse(search.query) };
  const approved = search.profile === 'hybrid' ? profile() : undefined;
  if (approved === undefined) return [byTerms];
  const [vector] = await models.embed(approved, 'query', [search.query], search.call);
  return vector === undefined ? [byTerms] : [byTerms, { kind: 'vector', vector }];
}

function conditionOf({ protocols, implementationTypes }: AgentSearch): AttributeCondition {
  const among = (path: string, value: readonly string[] | undefined): readonly AttributeCondition[] =>
    value === undefined ? [] : [{ path, op: 'in', value }];
  return { and: [...among('protocol', protocols), ...among('implementationType', implementationTypes)] };
}

/** The labels of the agents of the workspace that the caller may invoke. */
async function invocableLabels(ports: AgentSearchPorts, search: AgentSearch): Promise<readonly string[]> {
  const { relations, database } = ports;
  const { caller, workspaceId } = search;
  const reach = await reachOf(relations, caller, 'invoke');
  if (reach.kind === 'listed') return [...reach.own, ...reach.overA2a.map(labelOverA2a)];
  const labels: string[] = [];
  let after: string | undefined;
  for (;;) {
    search.call.signal.throwIfAborted();
    const filters = { state: 'active', workspaceId } as const;
    const agents = await readAgents(database.sql, { filters, after, limit: batch });
    const allowed = await judgeAgents(relations, caller, { right: 'invoke', reach, agents });
    labels.push(...agents.filter((_agent, at) => allowed[at]).map((agent) => agent.agent_id));
    if (agents.length < batch) return labels;
    after = agents.at(-1)?.agent_id;
  }
}
