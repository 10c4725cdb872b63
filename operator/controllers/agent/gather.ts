import { flowLimits } from '#contracts/flow-limits';
import type { ServedTarget } from '#contracts/served-target';
import { compareVersions, isVersion } from '#kube/watch/compare-versions';
import type { Agent } from '#resources/agent';
import type { AgentRoute, AgentRouteSpec, RoutedVersion } from '#resources/agent-route';
import { type AgentVersion, requirementKinds } from '#resources/agent-version';
import type { GatewayReport } from '#resources/gateway-report';
import { operatorFinalizer } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { agentIdOf, isSdkBundle } from '../../agents/agent-bundle.ts';
import { imageMembers } from '../../agents/image-members.ts';
import { missingConnections } from '../../agents/missing-connections.ts';
import type { AgentHost } from '../../agents/ports.ts';
import type { Caches, Stores } from '../../caches/caches.ts';
import type { Environment } from '../../environment/read-environment-files.ts';
import type { AgentReplicaView, AgentSnapshot, VersionView } from './snapshot.ts';

export type AgentWorld = {
  readonly stores: Pick<Stores, 'agentVersions' | 'reports'>;
  readonly history: Pick<Caches, 'removalOfAgentRoute'>;
  /** The host of agents; absent if the installation does not run agents. */
  readonly host: AgentHost | undefined;
  readonly environment: () => Pick<Environment, 'connections'>;
  /** Returns the target of a served policy; undefined while it is not known. */
  readonly servedTarget: (policy: string) => ServedTarget | undefined;
  readonly namespace: string;
  readonly exposure: AgentRouteSpec['exposure'];
};

/** Everything that a pass over an Agent decides from. */
export function gatherAgent(
  world: AgentWorld,
  agent: Stored<Agent>,
  route: Stored<AgentRoute> | undefined,
  rights: AgentSnapshot['rights'],
): AgentSnapshot {
  const { metadata, spec, status } = agent;
  const { name, uid } = metadata;
  const agentId = agentIdOf(world.namespace, name);
  const own = route?.spec.agent.uid === uid ? route : undefined;
  const confirmed = status ?? {};
  return {
    deleting: metadata.deletionTimestamp !== undefined,
    hasFinalizer: metadata.finalizers?.includes(operatorFinalizer) ?? false,
    isConfigured: world.host !== undefined,
    generation: metadata.generation,
    spec,
    identity: { agentId, agent: { name, uid }, exposure: world.exposure },
    confirmed,
    served: viewOf(world, name, spec.version),
    canary: spec.canary === undefined ? undefined : viewOf(world, name, spec.canary.version),
    route: route !== undefined && own === undefined ? 'foreign' : own?.spec,
    listed: own === undefined ? [] : listedNow(world, own.spec, confirmed),
    replicas: own === undefined ? [] : replicasOf(world.stores.reports.list(), own),
    rights,
    users: usersOf(world, name, agentId),
  };
}

/** The version with a name for one Agent, according to the present report of its process. */
function viewOf(world: AgentWorld, agent: string, name: string): VersionView {
  const version = world.stores.agentVersions.get(name);
  if (version === undefined) return { kind: 'absent' };
  if (version.spec.agent !== agent) return { kind: 'foreign', agent: version.spec.agent };
  const { uid: versionId, deletionTimestamp } = version.metadata;
  if (deletionTimestamp !== undefined) return { kind: 'deleting', versionId };
  const routed = provedNow(world, version);
  if (routed !== undefined) return { kind: 'proved', versionId, routed };
  const ready = version.status?.conditions?.find(({ type }) => type === 'Ready');
  return { kind: 'unready', versionId, message: ready?.status === 'True' ? undefined : ready?.message };
}

/** The version as a route lists it; undefined unless its process is ready, its card verified and its connections exist. */
function provedNow(
  { host, environment, servedTarget }: AgentWorld,
  { metadata, spec, status }: Stored<AgentVersion>,
): RoutedVersion | undefined {
  const request = status?.workload === undefined ? undefined : host?.requestOf(status.workload);
  if (request?.modes === undefined || request.bundle.versionId !== metadata.uid) return undefined;
  const { bundle, modes } = request;
  if (missingConnections(bundle, spec.agent, environment().connections).length > 0) return undefined;
  const { state, card, address } = host?.observe(request.name) ?? {};
  const hasCard = modes.includes('A2A');
  const isProved = state?.ready === true && (hasCard ? card === 'verified' : card === 'none');
  if (!isProved || address === undefined || (hasCard && state.cardDigest === undefined)) return undefined;
  const image = isSdkBundle(bundle) ? imageMembers(bundle, servedTarget) : {};
  if (image === undefined) return undefined;
  return {
    versionId: metadata.uid,
    version: metadata.name,
    modes: [...modes],
    address,
    ...(hasCard ? { cardDigest: state.cardDigest } : {}),
    requires: bundle.requires.map(({ kind, name }) => ({ kind: requirementKinds[kind], name })),
    limits: { ...bundle.limits, budget },
    ...image,
  };
}

const { nodes, modelTokens, outputBytes } = flowLimits.run;
/** The budget of a run with everything that it calls: a manifest does not set it. */
const budget = { nodes: nodes.max, modelTokens: modelTokens.max, outputBytes: outputBytes.max } as const;

/**
 * A version stays listed while its process is unavailable. It is removed when the AgentVersion is deleted, or when the
 * AgentVersion is being deleted and only calls that name the version reach it.
 */
function listedNow(
  world: AgentWorld,
  { served, versions }: AgentRouteSpec,
  confirmed: AgentSnapshot['confirmed'],
): readonly RoutedVersion[] {
  const needed = [served, confirmed.served?.versionId];
  return versions.flatMap((entry) => {
    const version = world.stores.agentVersions.get(entry.version);
    if (version?.metadata.uid !== entry.versionId) return [];
    if (version.metadata.deletionTimestamp !== undefined && !needed.includes(entry.versionId)) return [];
    return provedNow(world, version) ?? entry;
  });
}

type Reports = readonly Stored<GatewayReport>[];

/** The replicas that serve agents, and their reports about this version of the route. */
function replicasOf(reports: Reports, { metadata }: Stored<AgentRoute>): readonly AgentReplicaView[] {
  const { name, uid, resourceVersion } = metadata;
  return reports.flatMap(({ metadata: replica, spec }): readonly AgentReplicaView[] => {
    const { ready, agents } = spec;
    if (agents === undefined) return [];
    const about = (entry: { readonly route: string; readonly uid: string }): boolean =>
      entry.route === name && entry.uid === uid;
    const rejected = agents.rejected.filter(about);
    const isOpen = agents.pending.some(about) || rejected.length > 0;
    const reason = rejected.find(({ version }) => version === resourceVersion)?.reason;
    const loaded = hasPassed(agents, resourceVersion) && !isOpen;
    return [{ name: replica.name, ready, loaded, rejected: reason }];
  });
}

type AgentsReport = NonNullable<GatewayReport['spec']['agents']>;

function hasPassed({ appliedThrough }: AgentsReport, version: string): boolean {
  return isVersion(appliedThrough) && isVersion(version) && compareVersions(appliedThrough, version) >= 0;
}

function usersOf({ stores, history }: AgentWorld, name: string, agentId: string): readonly string[] {
  const removed = history.removalOfAgentRoute(name);
  return stores.reports
    .list()
    .filter(({ spec: { agents } }) => {
      if (agents === undefined) return false;
      const isBehind = removed !== undefined && !hasPassed(agents, removed);
      return isBehind || agents.inUse.some((use) => use.agentId === agentId);
    })
    .map(({ metadata }) => metadata.name);
}
