import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Agent } from '#resources/agent';
import type { AgentRoute } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';
import type { GatewayReportSpec } from '#resources/gateway-report';
import { apiVersion, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { OperatorOverrides } from '../operator.ts';
import type { Attitude, FakeReplica } from './fake-replica.ts';
import { startFakeReplica } from './fake-replica.ts';
import { createInstantAgents } from './instant-agents.ts';
import { createRightsInMemory } from './rights-in-memory.ts';
import { startTestOperator, type TestOperator, waitFor } from './start-test-operator.ts';

const sample = join(import.meta.dirname, '..', '..', 'crds', 'samples', 'valid', 'agent-version-small.yaml');
const version = parse(readFileSync(sample, 'utf8')) as AgentVersion;
/** The agent that the versions of the sample belong to. */
export const agentName = version.spec.agent;

type UsedAgentVersion = NonNullable<GatewayReportSpec['agents']>['inUse'][number];

/** An operator that runs agents, with rights in memory and one replica that serves agents. */
export type AgentPlatform = AsyncDisposable & {
  readonly platform: TestOperator;
  readonly authority: ReturnType<typeof createRightsInMemory>;
  readonly agents: ReturnType<typeof createInstantAgents>;
  readonly replica: FakeReplica;
  /** The replica reads every route again. `calls` are versions with calls in flight. */
  report(attitude?: Attitude, calls?: readonly UsedAgentVersion[], change?: Partial<GatewayReportSpec>): Promise<void>;
  publish(name: string, change?: Partial<AgentVersion['spec']>): Promise<Stored<AgentVersion>>;
  agent(change?: Partial<Agent['spec']>): Promise<Stored<Agent>>;
  edit(change: Partial<Agent['spec']>): Promise<Stored<Agent>>;
  route(what: string, says: (route: AgentRoute['spec']) => boolean): Promise<Stored<AgentRoute>>;
  settled(reason: string, says?: (agent: Stored<Agent>) => boolean): Promise<Stored<Agent>>;
  restart(overrides?: OperatorOverrides): Promise<void>;
};

export async function startAgentPlatform(overrides: OperatorOverrides = {}): Promise<AgentPlatform> {
  const authority = createRightsInMemory();
  let agents = createInstantAgents();
  const platform = await startTestOperator({ overrides: { agents, authority, ...overrides } });
  const replica = await startFakeReplica(platform, 'gateway-1');

  return {
    platform,
    authority,
    get agents() {
      return agents;
    },
    replica,
    report: (attitude = 'take', calls = [], change = {}) => reportAgents(platform, replica, attitude, calls, change),
    async publish(name, change = {}) {
      const spec = { ...version.spec, ...change };
      await platform.client.create<AgentVersion>(kinds.agentVersion, { ...version, metadata: { name }, spec });
      return waitFor<AgentVersion>(
        platform,
        kinds.agentVersion,
        name,
        `${name} is ready`,
        (one) => reasonOf(one) === 'Ready',
      );
    },
    agent: (change = {}) => platform.client.create<Agent>(kinds.agent, agentObjectOf(change)),
    async edit(change) {
      const current = await platform.client.get<Agent>(kinds.agent, agentName);
      const value = { ...current?.spec, ...change };
      return platform.client.patch<Agent>(kinds.agent, agentName, [{ op: 'replace', path: '/spec', value }]);
    },
    route: (what, says) => waitFor<AgentRoute>(platform, kinds.agentRoute, agentName, what, ({ spec }) => says(spec)),
    settled: (reason, says = () => true) =>
      waitFor<Agent>(platform, kinds.agent, agentName, reason, (one) => {
        const isCurrent = one.status?.observedGeneration === one.metadata.generation;
        return isCurrent && reasonOf(one) === reason && says(one);
      }),
    async restart(change = {}) {
      agents = createInstantAgents();
      await platform.restart({}, { agents, authority, ...change });
    },
    [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose](),
  };
}

/** An Agent with one person who can find and call it. */
function agentObjectOf(change: Partial<Agent['spec']> = {}): Agent {
  const person = { issuer: 'https://people.example', subject: 'ada' };
  const access = {
    view: [{ kind: 'User', ...person }],
    invoke: [{ kind: 'User', ...person }],
  } satisfies Agent['spec']['access'];
  const spec: Agent['spec'] = { version: 'one', owner: person, workspace: 'support', access, ...change };
  return { apiVersion, kind: kinds.agent.kind, metadata: { name: agentName }, spec };
}

export function reasonOf(object: Agent | AgentVersion, type = 'Ready'): string | undefined {
  return object.status?.conditions?.find((one) => one.type === type)?.reason;
}

async function reportAgents(
  platform: TestOperator,
  replica: FakeReplica,
  attitude: Attitude,
  calls: readonly UsedAgentVersion[],
  change: Partial<GatewayReportSpec>,
): Promise<void> {
  const { items, resourceVersion } = await platform.client.list<AgentRoute>(kinds.agentRoute);
  const places = items.map(({ metadata: { name, uid, resourceVersion: at } }) => ({ route: name, uid, version: at }));
  const isTaken = attitude === 'take';
  const reason = typeof attitude === 'object' ? attitude.reject : undefined;
  const listed = items.flatMap(({ spec: { agentId, versions } }) =>
    isTaken ? versions.map(({ versionId }) => ({ agentId, versionId })) : [],
  );
  const agents: GatewayReportSpec['agents'] = {
    appliedThrough: resourceVersion,
    pending: attitude === 'pend' ? places : [],
    rejected: reason === undefined ? [] : places.map((place) => ({ ...place, reason })),
    inUse: [...listed, ...calls],
  };
  await replica.report('take', { agents, ...change });
}
