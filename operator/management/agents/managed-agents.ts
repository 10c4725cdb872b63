import type { AuditAuthor } from '#contracts/audit';
import type { ManagedAgent, ManagedAgentList, ManagedVersion, VersionsWithoutAgent } from '#contracts/managed-agents';
import { agentVersionRow } from '#diagnosis/agent-version-row';
import { explainAgent } from '#diagnosis/explain-agent';
import { explainAgentVersion } from '#diagnosis/explain-agent-version';
import type { Surroundings } from '#diagnosis/surroundings';
import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { agentIdOf } from '../../agents/agent-bundle.ts';
import { type DevelopmentPersons, isOwner } from './development-persons.ts';

type Resources = Pick<KubeClient, 'get' | 'list' | 'namespace'>;

/** This API does not read processes; their absence is visible in conditions. */
const unseen: Surroundings = {
  operator: { state: 'unknown', message: 'the management API does not read processes', replicas: [] },
  problems: [],
};

/** Every agent, ordered by name. */
export async function listManagedAgents(client: Resources, program: string): Promise<ManagedAgentList> {
  const { items } = await listAll<Agent>(client, kinds.agent);
  return {
    items: items
      .map((agent) => {
        const { name } = agent.metadata;
        const { state, summary } = explainAgent(agent, unseen, program);
        const served = agent.status?.served?.version ?? null;
        return { name, agentId: agentIdOf(client.namespace, name), state, served, summary };
      })
      .sort((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

/** Every version whose Agent does not exist, ordered by name: no agent shows it. */
export async function listVersionsWithoutAgent(client: Pick<Resources, 'list'>): Promise<VersionsWithoutAgent> {
  const { items: versions } = await listAll<AgentVersion>(client, kinds.agentVersion, { transform: withoutFlow });
  // Read last, so that a version is not listed whose agent was created between the two lists.
  const { items: agents } = await listAll<Agent>(client, kinds.agent);
  const names = new Set(agents.map(({ metadata }) => metadata.name));
  return {
    items: versions
      .filter(({ spec }) => !names.has(spec.agent))
      .map(({ metadata, spec }) => ({
        name: metadata.name,
        agent: spec.agent,
        createdAt: metadata.creationTimestamp,
      }))
      .sort((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

type Reading = {
  /** The command with which remedies begin. */
  readonly program: string;
  /** Whether the caller may read this agent only, so that messages must name no other agent. */
  readonly isOwnOnly: boolean;
};

/**
 * An agent with the versions that it names, followed by its other versions, from live reads. The wording is that of
 * `portcullis why`. A version of another agent is shown as absent.
 * @returns undefined if there is no such agent
 */
export async function readManagedAgent(
  client: Resources,
  agentId: string,
  { program, isOwnOnly }: Reading,
): Promise<ManagedAgent | undefined> {
  const found = await findAgent(client, agentId);
  if (found === undefined) return undefined;
  const agent = isOwnOnly ? withoutOtherAgents(found) : found;
  const { state, summary, whatToDo, chain } = explainAgent(agent, unseen, program);
  const named = rolesOf(agent);
  const versions = await Promise.all(
    [...named].map(async ([name, roles]): Promise<ManagedVersion> => {
      return describeVersion({ name, roles, agent, found: await ownVersion(client, agent, name) }, program);
    }),
  );
  const others = (await versionsOf(client, agent))
    .filter(({ metadata }) => !named.has(metadata.name))
    .map((other) => describeVersion({ name: other.metadata.name, roles: [], agent, found: other }, program));
  const steps = chain.map(({ part, state: stepState, reason = null, message }) => ({
    part,
    state: stepState,
    reason,
    message,
  }));
  return {
    name: agent.metadata.name,
    agentId,
    state,
    summary,
    whatToDo: whatToDo ?? null,
    steps,
    versions: [...versions, ...others],
  };
}

/** A version of the agent, by its id; the agent need not name it. */
export async function readManagedVersion(
  client: Resources,
  agentId: string,
  versionId: string,
): Promise<Stored<AgentVersion> | undefined> {
  const agent = await findAgent(client, agentId);
  if (agent === undefined) return undefined;
  for (const name of rolesOf(agent).keys()) {
    const found = await ownVersion(client, agent, name);
    if (found?.metadata.uid === versionId) return found;
  }
  return (await versionsOf(client, agent)).find(({ metadata }) => metadata.uid === versionId);
}

/** The version of a name, which an Agent may name although it belongs to another agent. */
async function ownVersion(
  client: Resources,
  agent: Stored<Agent>,
  name: string,
): Promise<Stored<AgentVersion> | undefined> {
  const found = await client.get<AgentVersion>(kinds.agentVersion, name);
  return found?.spec.agent === agent.metadata.name ? found : undefined;
}

const otherAgentReasons: readonly string[] = ['VersionOfOtherAgent', 'CanaryOfOtherAgent'];

/** The Agent with conditions that do not name another agent. */
function withoutOtherAgents(agent: Stored<Agent>): Stored<Agent> {
  const { status } = agent;
  if (status?.conditions === undefined) return agent;
  const message = 'The AgentVersion that the spec names is not a version of this agent.';
  const conditions = status.conditions.map((one) =>
    otherAgentReasons.includes(one.reason) ? { ...one, message } : one,
  );
  return { ...agent, status: { ...status, conditions } };
}

/** The versions that belong to an agent, the newest first. */
async function versionsOf(client: Resources, agent: Stored<Agent>): Promise<readonly Stored<AgentVersion>[]> {
  const isOwn = ({ spec }: Stored<AgentVersion>): boolean => spec.agent === agent.metadata.name;
  const transform = (version: Stored<AgentVersion>): Stored<AgentVersion> =>
    isOwn(version) ? version : withoutFlow(version);
  const { items } = await listAll<AgentVersion>(client, kinds.agentVersion, { transform });
  return items
    .filter(isOwn)
    .toSorted((one, other) => (one.metadata.creationTimestamp > other.metadata.creationTimestamp ? -1 : 1));
}

/** Versions of other agents are dropped once the list is complete: until then their flows would be in memory. */
function withoutFlow(version: Stored<AgentVersion>): Stored<AgentVersion> {
  const { lowCode: _, ...spec } = version.spec;
  return { ...version, spec };
}

/** Whether the agent exists and this caller owns it. An actor that acts for the owner does not count as the owner. */
export async function isOwnAgent(
  client: Resources,
  agentId: string,
  { author, persons }: { readonly author: AuditAuthor; readonly persons: DevelopmentPersons | undefined },
): Promise<boolean> {
  if (author.kind !== 'token' || author.actors.length > 0) return false;
  const owner = (await findAgent(client, agentId))?.spec.owner;
  return owner !== undefined && isOwner(owner, author, persons);
}

/** The id of an agent follows from its name. */
async function findAgent(client: Resources, agentId: string): Promise<Stored<Agent> | undefined> {
  const { items } = await listAll<Agent>(client, kinds.agent);
  return items.find(({ metadata }) => agentIdOf(client.namespace, metadata.name) === agentId);
}

type Roles = ManagedVersion['roles'];

/** The names of versions with their use by the agent, the served version first. */
function rolesOf({ spec, status }: Stored<Agent>): ReadonlyMap<string, Roles> {
  const named: readonly (readonly [Roles[number], string | undefined])[] = [
    ['served', status?.served?.version],
    ['canary', status?.canary?.version],
    ['wanted', spec.version],
    ['wanted', spec.canary?.version],
    ...(status?.previous ?? []).map(({ version }) => ['previous', version] as const),
  ];
  const roles = new Map<string, Roles>();
  for (const [role, name] of named) if (name !== undefined) roles.set(name, [...(roles.get(name) ?? []), role]);
  return roles;
}

function describeVersion(
  {
    name,
    roles,
    agent,
    found,
  }: {
    readonly name: string;
    readonly roles: Roles;
    readonly agent: Stored<Agent>;
    readonly found: Stored<AgentVersion> | undefined;
  },
  program: string,
): ManagedVersion {
  const canary = agent.status?.canary;
  const percent = canary?.version === name ? canary.percent : null;
  if (found === undefined) {
    const summary = `The agent ${agent.metadata.name} has no AgentVersion ${name}.`;
    const whatToDo = `Apply it, or name another version: ${program} edit agent/${agent.metadata.name}`;
    const absent = { versionId: null, state: null, hasFlow: false, isUnguarded: false };
    return { name, roles, percent, ...absent, summary, whatToDo };
  }
  const { state, summary, whatToDo } = explainAgentVersion(found, unseen, program);
  const { unguarded: isUnguarded } = agentVersionRow(found);
  return {
    name,
    versionId: found.metadata.uid,
    roles,
    percent,
    state,
    hasFlow: found.spec.lowCode !== undefined,
    isUnguarded,
    summary,
    whatToDo: whatToDo ?? null,
  };
}
