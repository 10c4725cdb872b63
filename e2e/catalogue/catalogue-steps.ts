import { until } from '#kit/testing/until';
import { userSubject } from '#relations/subject';
import { groupObject } from '#relations/tenant-object';
import { type AgentSketch, resourcesOf, uuidOf } from '../../dataplane/catalogue/testing/agent-resources.ts';
import type { CatalogueWorld } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import { randomFrom } from '../support/random-from.ts';

type Right = 'view' | 'invoke';
type StepKind = 'grant' | 'revoke' | 'join' | 'leave' | 'publish' | 'switch' | 'remove' | 'read' | 'walk' | 'search';

const people = ['ann', 'bob', 'cleo', 'dave'];
/** Groups that have people and one another as members, also in circles; a token names the claimed one, which has no stored members. */
const groups = ['one', 'two', 'three'];
const claimed = 'claimed';
const claims: ReadonlySet<string> = new Set(['cleo', 'dave']);
const tenant = 'acme';
const workspaces = ['support', 'sales'];
const words = ['salaries', 'holidays', 'invoices', 'contracts', 'travel'];
const mostAgents = 40;
/** How often each kind of step is taken, relative to the sum. */
const weights: Readonly<Record<StepKind, number>> = {
  grant: 20,
  revoke: 12,
  join: 5,
  leave: 4,
  publish: 3,
  switch: 4,
  remove: 2,
  read: 25,
  walk: 25,
  search: 13,
};

type ModelAgent = {
  readonly sketch: AgentSketch;
  readonly agentId: string;
  readonly workspace: string;
  readonly word: string;
};
type StepsReport = {
  readonly differences: readonly string[];
  readonly counts: Readonly<Partial<Record<StepKind, number>>>;
};

/** Takes random steps and compares every answer with sets in memory. Walks change rights and agents between their pages. */
export async function takeCatalogueSteps(
  world: CatalogueWorld,
  { seed, steps, say }: { readonly seed: number; readonly steps: number; readonly say: (progress: string) => void },
): Promise<StepsReport> {
  const random = randomFrom(seed);
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const agents = new Map<string, ModelAgent>();
  /** Facts `holder relation object`, where a holder is a person or a group. */
  const facts = new Set<string>();
  const differences: string[] = [];
  const counts: Partial<Record<StepKind, number>> = {};
  let names = 0;
  /** Everything by which a person may have a right: itself, its groups, and theirs. */
  const holdersOf = (person: string): ReadonlySet<string> => {
    const holders = new Set([person, ...(claims.has(person) ? [claimed] : [])]);
    // A set yields what is added during the walk, too.
    for (const holder of holders)
      for (const group of groups) if (facts.has(`${holder} member ${group}`)) holders.add(group);
    return holders;
  };
  const has = (person: string, right: Right, id: string): boolean =>
    [...holdersOf(person)].some((holder) => facts.has(`${holder} ${right} ${id}`));
  const subjectOf = (holder: string): string =>
    people.includes(holder)
      ? userSubject({ issuer: 'https://people.example', subject: holder })
      : `${groupObject(tenant, holder)}#member`;
  const compare = (what: string, found: unknown, expected: unknown): void => {
    const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
    if (one !== other) differences.push(`${what}: found ${one}, expected ${other}`);
  };

  /** Tokens of two people name a group; a token is valid for ten minutes, which is less than a full run. */
  async function ask(person: string, path: string, init: RequestInit = {}) {
    const names = claims.has(person) ? [claimed] : [];
    return world.ask(await world.token(person, { tenants: [tenant], groups: names }), path, init);
  }

  async function publish(): Promise<void> {
    if (agents.size >= mostAgents) return await remove();
    names += 1;
    const [name, workspace, word] = [`agent-${names}`, oneOf(workspaces), oneOf(words)];
    const sketch = await world.publish(name, { workspace, description: describe(word) });
    await settled(sketch);
    agents.set(name, { sketch, agentId: sketch.agentId, workspace, word });
  }

  const describe = (word: string): string => `Answers about ${word}.`;

  /** The watches of the kinds are independent: an agent may be stored before its version and its route are seen. */
  const settled = ({ name, agentId, versionId }: AgentSketch) =>
    until(`${name} takes calls`, async () => {
      const [row] = await world.database.sql`
        select from catalogue.agents where agent_id = ${agentId}::uuid and version_id = ${versionId}
          and state = 'active' and is_ready and is_consistent and is_routed`;
      return row !== undefined;
    });

  /** Another version with another description is served. */
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

  async function change(kind: 'grant' | 'revoke'): Promise<void> {
    const agent = oneOf([...agents.values()]);
    if (agent === undefined) return;
    const [holder, right] = [oneOf([...people, ...groups, claimed]), oneOf<Right>(['view', 'invoke'])];
    await apply(kind, { holder, relation: right, object: `agent:${agent.agentId}`, fact: agent.agentId });
  }

  /** A person or a group becomes a member of a group, or is no longer one. */
  async function changeMembers(kind: 'grant' | 'revoke'): Promise<void> {
    const group = oneOf(groups);
    const holder = oneOf([...people, ...groups, claimed].filter((one) => one !== group));
    await apply(kind, { holder, relation: 'member', object: groupObject(tenant, group), fact: group });
  }

  async function apply(
    kind: 'grant' | 'revoke',
    { holder, relation, object, fact }: Readonly<Record<'holder' | 'relation' | 'object' | 'fact', string>>,
  ): Promise<void> {
    await world.relations[kind]([{ subject: subjectOf(holder), relation, object }]);
    const line = `${holder} ${relation} ${fact}`;
    if (kind === 'grant') facts.add(line);
    else facts.delete(line);
  }

  async function read(): Promise<void> {
    const person = oneOf(people);
    const agentId =
      random() < 0.1 ? uuidOf(`nothing-${random()}`) : (oneOf([...agents.values()])?.agentId ?? uuidOf('x'));
    const { status, json } = await ask(person, `/api/v1/agents/${agentId}`);
    const agent = [...agents.values()].find((one) => one.agentId === agentId);
    const isSeen = agent !== undefined && has(person, 'view', agentId);
    const isCallable = isSeen && has(person, 'invoke', agentId);
    const { url } = (json['invocationInterface'] ?? {}) as { readonly url?: string };
    compare(
      `read of ${person}`,
      [status, json['versionId'], json['description'], url?.includes(`/versions/${agent?.sketch.versionId}`)],
      isSeen
        ? [200, agent.sketch.versionId, describe(agent.word), isCallable ? true : undefined]
        : [404, undefined, undefined, undefined],
    );
  }

  const visible = (person: string, workspace: string | undefined): readonly string[] =>
    [...agents.values()]
      .filter(
        (agent) => (workspace === undefined || agent.workspace === workspace) && has(person, 'view', agent.agentId),
      )
      .map(({ agentId }) => agentId)
      .toSorted();

  /** What stayed visible during the walk is there once, and nothing is there that was not visible at its page. */
  async function walk(): Promise<void> {
    const [person, workspace] = [oneOf(people), oneOf([...workspaces, undefined])];
    const limit = 1 + Math.floor(random() * 7);
    let always = new Set(visible(person, workspace));
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const filter = workspace === undefined ? '' : `&workspaceId=${workspace}`;
      const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const now = visible(person, workspace);
      always = always.intersection(new Set(now));
      const { status, json } = await ask(person, `/api/v1/agents?limit=${limit}${filter}${next}`);
      if (status !== 200) return void differences.push(`walk of ${person}: status ${status}`);
      const items = (json['items'] as readonly { readonly agentId: string }[]).map(({ agentId }) => agentId);
      const last = seen.at(-1) ?? '';
      compare(`page of ${person}`, items, now.filter((id) => id > last).slice(0, limit));
      seen.push(...items);
      cursor = json['nextCursor'] as string | null;
      if (items.length === 0 && cursor !== null) return void differences.push(`walk of ${person}: an empty page`);
      if (random() < 0.3) await oneOf([change, changeMembers])(oneOf(['grant', 'revoke']));
      always = always.intersection(new Set(visible(person, workspace)));
    }
    if (new Set(seen).size !== seen.length) differences.push(`walk of ${person}: an agent is repeated`);
    for (const id of always) if (!seen.includes(id)) differences.push(`walk of ${person}: ${id} is skipped`);
  }

  async function search(): Promise<void> {
    const [person, workspaceId, word] = [oneOf(people), oneOf(workspaces), oneOf(words)];
    const { status, json } = await ask(person, '/api/v1/agents/search', {
      method: 'POST',
      body: JSON.stringify({ query: word, workspaceId, topK: 50 }),
      headers: { 'content-type': 'application/json' },
    });
    const matches = (json['matches'] ?? []) as readonly { readonly agentId: string }[];
    const expected = [...agents.values()]
      .filter((agent) => agent.workspace === workspaceId && agent.word === word && has(person, 'invoke', agent.agentId))
      .map(({ agentId }) => agentId);
    compare(
      `search of ${person}`,
      [status, matches.map(({ agentId }) => agentId).toSorted()],
      [200, expected.toSorted()],
    );
  }

  const take: Readonly<Record<StepKind, () => Promise<void>>> = {
    grant: () => change('grant'),
    revoke: () => change('revoke'),
    join: () => changeMembers('grant'),
    leave: () => changeMembers('revoke'),
    publish,
    switch: switchVersion,
    remove,
    read,
    walk,
    search,
  };
  for (let at = 0; at < 8; at += 1) await publish();
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
  return { differences, counts };
}
