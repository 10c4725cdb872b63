import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { applyDesired, applyStatus } from '#kube/apply/apply';
import { type KubeClient, KubeError } from '#kube/client/client';
import type { EventRecorder } from '#kube/events/event-recorder';
import type { Agent } from '#resources/agent';
import type { AgentRoute, AgentRouteSpec } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';
import { apiVersion, kinds, operatorFinalizer } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { accessTuples, agentObject } from '../../access/access-tuples.ts';
import type { AgentRights } from '../../access/ports.ts';
import { agentIdOf } from '../../agents/agent-bundle.ts';
import type { Stores } from '../../caches/caches.ts';
import { transitionEvents, type Watched } from '../../events/transition-events.ts';
import type { PassOutcome } from '../../reconcile/outcome.ts';
import { type AgentResult, decideAgent } from './decide.ts';
import { type AgentWorld, gatherAgent } from './gather.ts';
import type { AgentSnapshot } from './snapshot.ts';
import { makeAgentStatus } from './status.ts';

const maxSteps = 8;
/** Delays until the next pass, milliseconds. Rights are compared again, because others may change them. */
const lookMs = { whileAway: 2_000, whileLeaving: 1_000, otherwise: 60_000 } as const;

const watched: readonly Watched[] = [
  { type: 'Ready', status: 'False', as: { type: 'Warning', action: 'Serve' } },
  { type: 'Ready', status: 'True', as: { type: 'Normal', action: 'Serve' } },
  { type: 'RouteAccepted', status: 'False', of: 'RouteRejected', as: { type: 'Warning', action: 'Route' } },
];

/** The store of rights, and the token issuer of the agents in it. */
export type AgentAuthority = {
  readonly rights: AgentRights;
  readonly issuer: string;
  /** Which callers may use agents over MCP. */
  readonly exposure: AgentRouteSpec['exposure'];
};

type AgentControllerOptions = Omit<AgentWorld, 'exposure'> & {
  readonly client: KubeClient;
  readonly stores: Pick<Stores, 'agents' | 'agentRoutes'>;
  /** The rights on agents; absent if the operator has no store of relations. */
  readonly authority: AgentAuthority | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Pick<EventRecorder, 'record'>;
};

type Settled = {
  readonly uid: string;
  readonly generation: number;
  readonly at: number;
  /** `invalid`: the rights whose names the store can hold are settled. */
  readonly as: 'consistent' | 'invalid';
};

/** Keeps the route of each Agent and the rights on it as its resource declares them. */
export function createAgentController(options: AgentControllerOptions) {
  const { client, stores, host, authority, clock, logger, events } = options;
  /** For each Agent, by name: the rights that were compared a short time ago. */
  const settled = new Map<string, Settled>();
  const world: AgentWorld = { ...options, exposure: authority?.exposure ?? 'R1' };

  async function reconcile(name: string): Promise<PassOutcome> {
    const found = stores.agents.get(name);
    if (found === undefined) {
      settled.delete(name);
      return { kind: 'settled' };
    }
    let agent = found;
    let route = stores.agentRoutes.get(name);
    let rights = rightsOf(agent);
    for (let step = 0; step < maxSteps; step++) {
      const s = gatherAgent(world, agent, route, rights);
      const decided = decideAgent(s);
      const { finalizers = [] } = agent.metadata;
      switch (decided.kind) {
        case 'nothing':
          return { kind: 'settled' };
        case 'adopt':
          agent = await write(agent, [...finalizers, operatorFinalizer]);
          break;
        case 'grant':
          rights = await grant(agent);
          break;
        case 'write':
          route = await writeRoute(agent, s, route, decided.spec);
          logger.info('agent_route_written', {
            name,
            served: decided.spec.served,
            canary: decided.spec.canary?.versionId,
          });
          break;
        case 'withdraw':
          await withdraw(name, route);
          return { kind: 'waiting', afterMs: lookMs.whileLeaving };
        case 'let_go':
          await write(
            agent,
            finalizers.filter((one) => one !== operatorFinalizer),
          );
          logger.info('agent_ended', { name });
          return { kind: 'settled' };
        case 'settle':
          return settle(agent, s, decided.result);
      }
    }
    throw new TypeError('the reconcile of an agent exceeded its maximum number of steps');
  }

  function rightsOf({ metadata }: Stored<Agent>): AgentSnapshot['rights'] {
    if (authority === undefined) return 'not_configured';
    const last = settled.get(metadata.name);
    const isFresh = last !== undefined && clock.now() - last.at < lookMs.otherwise;
    return isFresh && last.uid === metadata.uid && last.generation === metadata.generation ? last.as : 'unasked';
  }

  async function grant({ metadata, spec }: Stored<Agent>): Promise<AgentSnapshot['rights']> {
    if (authority === undefined) return 'not_configured';
    const { name, uid, generation } = metadata;
    const agentId = agentIdOf(client.namespace, name);
    const { tuples, isComplete } = accessTuples(spec, {
      agentId,
      issuer: authority.issuer,
      agentIdOf: (agent) => agentIdOf(client.namespace, agent),
    });
    const outcome = await authority.rights.settle(agentObject(agentId), tuples);
    if (outcome !== 'consistent') return outcome;
    const as = isComplete ? 'consistent' : 'invalid';
    settled.set(name, { uid, generation, at: clock.now(), as });
    return as;
  }

  /** A version that begins to be served is read live, so that a resumed process cannot act on stale state. */
  async function writeRoute(
    agent: Stored<Agent>,
    { served, canary }: AgentSnapshot,
    route: Stored<AgentRoute> | undefined,
    spec: AgentRouteSpec,
  ): Promise<Stored<AgentRoute>> {
    const { name, uid, resourceVersion } = agent.metadata;
    const live = await client.get<Agent>(kinds.agent, name);
    if (live?.metadata.uid !== uid || live.metadata.resourceVersion !== resourceVersion) {
      throw new KubeError('conflict', 'the agent has changed');
    }
    for (const view of [served, canary]) {
      if (view?.kind !== 'proved' || !isBegun(view.versionId, route?.spec, spec)) continue;
      const version = await client.get<AgentVersion>(kinds.agentVersion, view.routed.version);
      const isKept = version?.metadata.uid === view.versionId && version.metadata.deletionTimestamp === undefined;
      if (!isKept) throw new KubeError('conflict', 'the version has changed');
    }
    if (route !== undefined) return applyDesired<AgentRoute>(client, kinds.agentRoute, route, { spec });
    const owner = { apiVersion, kind: kinds.agent.kind, name, uid, controller: true };
    const metadata = { name, ownerReferences: [owner] };
    return client.create<AgentRoute>(kinds.agentRoute, { apiVersion, kind: kinds.agentRoute.kind, metadata, spec });
  }

  async function withdraw(name: string, route: Stored<AgentRoute> | undefined): Promise<void> {
    if (route === undefined) throw new TypeError('there is no route to delete');
    const { uid, resourceVersion } = route.metadata;
    await client.delete(kinds.agentRoute, name, { uid, resourceVersion });
    logger.info('agent_route_deleted', { name });
  }

  function write(agent: Stored<Agent>, finalizers: readonly string[]): Promise<Stored<Agent>> {
    return applyDesired(client, kinds.agent, agent, { finalizers });
  }

  async function settle(agent: Stored<Agent>, s: AgentSnapshot, result: AgentResult): Promise<PassOutcome> {
    const url =
      host === undefined ? undefined : `${host.publicUrl.href.replace(/\/$/, '')}/agents/${s.identity.agentId}`;
    const status = makeAgentStatus(agent, s, result, {
      url,
      now: clock.date(),
      versionOf: (version) => world.stores.agentVersions.get(version),
    });
    await applyStatus(client, kinds.agent, agent, status);
    for (const note of transitionEvents(agent.status?.conditions, status.conditions, watched)) {
      events.record({ regarding: agent, ...note });
    }
    switch (result.kind) {
      case 'not_configured':
        return { kind: 'settled' };
      case 'leaving':
        return { kind: 'waiting', afterMs: lookMs.whileLeaving };
      case 'routed':
        return { kind: 'waiting', afterMs: isAway(s.rights) ? lookMs.whileAway : lookMs.otherwise };
    }
  }

  return { reconcile };
}

/** Whether the store of rights did not answer. */
function isAway(rights: AgentSnapshot['rights']): boolean {
  return rights === 'away' || rights === 'refused';
}

/** Whether the next route serves or tries a version that the current route does not list. */
function isBegun(id: string, before: AgentRouteSpec | undefined, next: AgentRouteSpec): boolean {
  const uses = (route: AgentRouteSpec | undefined): boolean => route?.served === id || route?.canary?.versionId === id;
  return uses(next) && !uses(before);
}
