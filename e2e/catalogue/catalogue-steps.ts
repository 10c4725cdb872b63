import { until } from '#kit/testing/until';
import { type AgentSketch, resourcesOf, uuidOf } from '../../dataplane/catalogue/testing/agent-resources.ts';
import type { CatalogueWorld } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { randomFrom } from '../support/random-from.ts';
import { callers, claimsOf, createRightsModel, type JudgedAgent, nameOf, type StepCaller } from './rights-model.ts';

type StepKind = 'grant' | 'revoke' | 'join' | 'leave' | 'publish' | 'switch' | 'remove' | 'read' | 'walk' | 'search';

const workspaces = ['support', 'sales'];
const words = ['salaries', 'holidays', 'invoices', 'contracts', 'travel'];
const mostAgents = 40;
/** How often each kind of step is taken, relative to the sum of all weights. */
const weights: Readonly<Record<StepKind, number>> = {
  grant: 16,
  revoke: 16,
  join: 5,
  leave: 4,
  publish: 3,
  switch: 4,
  remove: 2,
  read: 25,
  walk: 25,
  search: 13,
};

type ModelAgent = JudgedAgent & {
  readonly sketch: AgentSketch;
  readonly workspace: string;
  readonly word: string;
};
type StepsReport = {
  readonly differences: readonly string[];
  readonly counts: Readonly<Partial<Record<StepKind, number>>>;
  /** Agents in the answers of each caller. */
  readonly found: Readonly<Record<string, number>>;
};

type Filters = { readonly workspaceId?: string; readonly protocol?: 'a2a' | 'mcp' };

/**
 * Takes random steps and compares every answer with sets in memory. Walks change rights between their pages. The catalogue
 * needs an embedding profile.
 */
export async function takeCatalogueSteps(
  world: CatalogueWorld,
  { seed, steps, say }: { readonly seed: number; readonly steps: number; readonly say: (progress: string) => void },
): Promise<StepsReport> {
  const random = randomFrom(seed);
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const agents = new Map<string, ModelAgent>();
  const rights = createRightsModel(oneOf);
  const differences: string[] = [];
  const counts: Partial<Record<StepKind, number>> = {};
  let names = 0;
  const found = Object.fromEntries(callers.map((caller) => [nameOf(caller), 0]));
  const compare = (what: string, actual: unknown, expected: unknown): void => {
    const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (one !== other) differences.push(`${what}: found ${one}, expected ${other}`);
  };
  const count = (caller: StepCaller, ids: readonly string[]): void => {
    found[nameOf(caller)] = (found[nameOf(caller)] ?? 0) + ids.length;
  };

  /** A token is valid for ten minutes, which is less than a full run. */
  async function ask(caller: StepCaller, path: string, init: RequestInit = {}) {
    return world.ask(await world.token(caller.person, claimsOf(caller)), path, init);
  }

  async function publish(): Promise<void> {
    if (agents.size >= mostAgents) return await remove();
    names += 1;
    const [name, workspace, word] = [`agent-${names}`, oneOf(workspaces), oneOf(words)];
    // A quarter of the agents is served over MCP only.
    const protocol = names % 4 === 0 ? 'mcp' : 'a2a';
    const modes = protocol === 'mcp' ? ({ modes: ['mcp_tool'], cardReason: 'NoCard' } as const) : {};
    const sketch = await world.publish(name, { workspace, description: describe(word), ...modes });
    await settled(sketch);
    agents.set(name, { sketch, agentId: sketch.agentId, protocol, workspace, word });
  }

  const describe = (word: string): string => `Answers about ${word}.`;

  /**
   * The watches of the kinds are independent: an agent may be stored before its version and its route are seen. The
   * vector of an agent is stored later.
   */
  const settled = ({ name, agentId, versionId }: AgentSketch) =>
    until(`${name} takes calls`, async () => {
      const [row] = await world.database.sql`
        select from catalogue.agents join catalogue.entries using (agent_id, workspace)
        where agent_id = ${agentId}::uuid and version_id = ${versionId}
          and state = 'active' and is_ready and is_consistent and is_routed and vector is not null`;
      return row !== undefined;
    });

  /** Makes another version with another description the served one. */
  async function switchVersion(): Promise<void> {
    const [name, agent] = oneOf([...agents]);
    const word = oneOf(words);
    names += 1;
    const sketch = { ...agent.sketch, description: describe(word) };
    const version = `${name}-${names}`;
    const url = `${world.resources.url}/apis/portcullis.dev/v1alpha1/namespaces/default/agentversions`;
    const body = JSON.stringify({ ...resourcesOf(sketch).version, metadata: { name: version } });
    const created = (await (await fetch(url, { method: 'POST', body })).json()) as {
      readonly metadata: { uid: string };
    };
    const next = { ...sketch, versionId: created.metadata.uid };
    const { agent: wanted, route } = resourcesOf(next);
    world.resources.change('agentroutes', name, (object) => {
      object['spec'] = route.spec;
    });
    world.resources.change('agents', name, (object) => {
      object['spec'] = { ...wanted.spec, version };
      object['status'] = { ...wanted.status, served: { version, versionId: next.versionId } };
    });
    await settled(next);
    agents.set(name, { ...agent, sketch: next, word });
  }

  async function remove(): Promise<void> {
    const [name] = [oneOf([...agents.keys()])];
    const agent = agents.get(name);
    if (agent === undefined) return;
    world.resources.remove('agents', name);
    await until(`${name} is removed`, async () => {
      const [row] = await world.database.sql<{ state: string }[]>`
        select state from catalogue.agents where agent_id = ${agent.agentId}::uuid`;
      return row?.state === 'removed';
    });
    agents.delete(name);
  }

  /** Two of three revocations are of a stored relation: others rarely change an answer. */
  async function change(kind: 'grant' | 'revoke', what: 'membership' | 'right'): Promise<void> {
    const isStored = kind === 'revoke' && random() < 2 / 3;
    const relation =
      (isStored ? rights.storedRelation(what) : undefined) ??
      rights.anyRelation(what === 'right' ? oneOf([...agents.values()]) : undefined);
    await world.relations[kind]([relation.tuple]);
    rights.change(kind, relation);
  }

  async function read(): Promise<void> {
    const caller = oneOf(callers);
    const agentId =
      random() < 0.1 ? uuidOf(`nothing-${random()}`) : (oneOf([...agents.values()])?.agentId ?? uuidOf('x'));
    const { status, json } = await ask(caller, `/api/v1/agents/${agentId}`);
    const agent = [...agents.values()].find((one) => one.agentId === agentId);
    const isSeen = agent !== undefined && rights.has(caller, 'view', agent);
    const isCallable = isSeen && rights.has(caller, 'invoke', agent);
    const { url } = (json['invocationInterface'] ?? {}) as { readonly url?: string };
    count(caller, isSeen ? [agentId] : []);
    compare(
      `read of ${nameOf(caller)}`,
      [status, json['versionId'], json['description'], url?.includes(`/versions/${agent?.sketch.versionId}`)],
      isSeen
        ? [200, agent.sketch.versionId, describe(agent.word), isCallable ? true : undefined]
        : [404, undefined, undefined, undefined],
    );
  }

  const allowed = (caller: StepCaller, right: 'view' | 'invoke', { workspaceId, protocol }: Filters) =>
    [...agents.values()]
      .filter((agent) => workspaceId === undefined || agent.workspace === workspaceId)
      .filter((agent) => protocol === undefined || agent.protocol === protocol)
      .filter((agent) => rights.has(caller, right, agent));

  const visible = (caller: StepCaller, filters: Filters): readonly string[] =>
    allowed(caller, 'view', filters)
      .map(({ agentId }) => agentId)
      .toSorted();

  const anyProtocol = (): Filters => oneOf<Filters>([{}, {}, { protocol: 'a2a' }, { protocol: 'mcp' }]);

  /**
   * Agents that stayed visible during the walk are listed once, and no agent is listed that was not visible at its
   * page.
   */
  async function walk(): Promise<void> {
    const caller = oneOf(callers);
    const workspaceId = oneOf([...workspaces, undefined]);
    const filters: Filters = { ...anyProtocol(), ...(workspaceId === undefined ? {} : { workspaceId }) };
    const limit = 1 + Math.floor(random() * 7);
    const what = `of ${nameOf(caller)} with ${JSON.stringify(filters)}`;
    let always = new Set(visible(caller, filters));
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const parameters = new URLSearchParams({ ...filters, limit: `${limit}`, ...(cursor === '' ? {} : { cursor }) });
      const now = visible(caller, filters);
      always = always.intersection(new Set(now));
      const { status, json } = await ask(caller, `/api/v1/agents?${parameters}`);
      if (status !== 200) return void differences.push(`walk ${what}: status ${status}`);
      const items = (json['items'] as readonly { readonly agentId: string }[]).map(({ agentId }) => agentId);
      const last = seen.at(-1) ?? '';
      compare(`page ${what}`, items, now.filter((id) => id > last).slice(0, limit));
      seen.push(...items);
      cursor = json['nextCursor'] as string | null;
      if (items.length === 0 && cursor !== null) return void differences.push(`walk ${what}: an empty page`);
      if (random() < 0.3) await change(oneOf(['grant', 'revoke']), oneOf(['membership', 'right']));
      always = always.intersection(new Set(visible(caller, filters)));
    }
    count(caller, seen);
    if (new Set(seen).size !== seen.length) differences.push(`walk ${what}: an agent is repeated`);
    for (const id of always) if (!seen.includes(id)) differences.push(`walk ${what}: ${id} is skipped`);
  }

  /**
   * A search by words finds an agent if its description contains the word; with vectors other agents with similar texts
   * may follow.
   */
  async function search(): Promise<void> {
    const [caller, workspaceId, word] = [oneOf(callers), oneOf(workspaces), oneOf(words)];
    const [profile, { protocol }] = [oneOf(['hybrid', 'terms']), anyProtocol()];
    const filters = protocol === undefined ? { workspaceId } : { workspaceId, protocol };
    const protocols = protocol === undefined ? {} : { protocols: [protocol] };
    const { status, json } = await ask(caller, '/api/v1/agents/search', {
      method: 'POST',
      body: JSON.stringify({ query: word, workspaceId, profile, topK: 50, ...protocols }),
      headers: { 'content-type': 'application/json' },
    });
    const matches = (json['matches'] ?? []) as readonly { readonly agentId: string }[];
    const ids = matches.map(({ agentId }) => agentId);
    const due = allowed(caller, 'invoke', filters);
    const related = due.filter((agent) => agent.word === word).map(({ agentId }) => agentId);
    const allowedIds = new Set(due.map(({ agentId }) => agentId));
    const others = profile === 'terms' ? [] : ids.slice(related.length).filter((id) => allowedIds.has(id));
    count(caller, ids);
    const what = `${profile} search of ${nameOf(caller)} with ${JSON.stringify(filters)}`;
    compare(what, [status, ids.toSorted()], [200, [...related, ...new Set(others)].toSorted()]);
    compare(`first of a ${what}`, ids.slice(0, related.length).toSorted(), related.toSorted());
  }

  const take: Readonly<Record<StepKind, () => Promise<void>>> = {
    grant: () => change('grant', 'right'),
    revoke: () => change('revoke', 'right'),
    join: () => change('grant', 'membership'),
    leave: () => change('revoke', 'membership'),
    publish,
    switch: switchVersion,
    remove,
    read,
    walk,
    search,
  };
  for (let at = 0; at < 8; at += 1) await publish();
  for (let at = 0; at < 60; at += 1) await change('grant', 'right');
  const kinds = Object.keys(weights) as StepKind[];
  const sum = kinds.reduce((total, kind) => total + weights[kind], 0);
  for (let step = 1; step <= steps; step += 1) {
    let place = random() * sum;
    let kind: StepKind = 'read';
    for (const one of kinds) {
      if (place < weights[one]) {
        kind = one;
        break;
      }
      place -= weights[one];
    }
    counts[kind] = (counts[kind] ?? 0) + 1;
    await take[kind]();
    if (step % 2_500 === 0) say(`${step} steps, ${differences.length} differences`);
  }
  return { differences, counts, found };
}
