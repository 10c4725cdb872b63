import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import { allSynced } from '#kube/watch/all-synced';
import { compareVersions } from '#kube/watch/compare-versions';
import type { IndexFunction, StoreView } from '#kube/watch/object-store';
import { startReflector } from '#kube/watch/reflector';
import type { Agent } from '#resources/agent';
import type { AgentRoute } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';
import type { CollectionResource } from '#resources/collection';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import { idLabel, type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { namedWorkloads, workloadsOf } from '../applications/named-workloads.ts';
import { type CachedPolicy, withoutDefinition } from './cached-policy.ts';

/** The objects that the operator watches. Revisions are read on demand, because they may be large and many. */
type CachedKinds = {
  readonly policies: CachedPolicy;
  readonly bindings: ModelBinding;
  readonly workloads: RuntimeWorkload;
  readonly routes: GatewayRoute;
  readonly reports: GatewayReport;
  readonly collections: CollectionResource;
  readonly agentVersions: AgentVersion;
  readonly agents: Agent;
  readonly agentRoutes: AgentRoute;
};
type CacheName = keyof CachedKinds;

export type Stores = { readonly [N in CacheName]: StoreView<CachedKinds[N]> };

type Listener<N extends CacheName> = (
  name: string,
  current: Stored<CachedKinds[N]> | undefined,
  previous: Stored<CachedKinds[N]> | undefined,
) => void;

/** Called for every change of an object, after the store was updated. */
export type Listeners = { readonly [N in CacheName]: Listener<N> };

export type Caches = AsyncDisposable & {
  readonly stores: Stores;
  /** Sets the listeners of later changes. */
  connect(listeners: Listeners): void;
  /** Resolves when every kind was listed and delivered. */
  readonly synced: Promise<void>;
  /** The version of the newest change of a gateway's routes, observed deletions included; "0" without any. */
  routesChangedAt(gateway: string): string;
  /** The version at which the deletion of a route was observed; undefined if no deletion of that name was observed. */
  removalOf(route: string): string | undefined;
  /** The version at which the deletion of an agent's route was observed; undefined if no such deletion was observed. */
  removalOfAgentRoute(route: string): string | undefined;
  /** The largest time, over all watches, since a watch last received data; milliseconds. */
  silenceMs(): number;
};

export function aliasKey(gateway: string, alias: string): string {
  return JSON.stringify([gateway, alias]);
}

const byId = ({ metadata }: { readonly metadata: Resource['metadata'] }): string[] => {
  const id = metadata.labels?.[idLabel];
  return id === undefined ? [] : [id];
};

/** Starts to list and watch the objects that the operator decides from. */
export function startCaches(options: {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly logger: Logger;
  readonly clock: Clock;
}): Caches {
  const { client, logger, clock } = options;
  let listeners: Listeners | undefined;
  const changedAt = new Map<string, string>();
  const removals = new Map<string, string>();
  const agentRemovals = new Map<string, string>();

  function raise(gateways: readonly (string | undefined)[], version: string): void {
    for (const gateway of gateways) {
      if (gateway === undefined || compareVersions(version, changedAt.get(gateway) ?? '0') <= 0) continue;
      changedAt.set(gateway, version);
    }
  }

  /** Without listeners only the stores are updated; a listener that is added later reads the stores first. */
  function tell<N extends CacheName>(name: N, ...change: Parameters<Listener<N>>): void {
    const listener = listeners?.[name] as Listener<N> | undefined;
    listener?.(...change);
  }

  function start<N extends CacheName>(
    name: N,
    kind: Kind,
    indexes: Readonly<Record<string, IndexFunction<CachedKinds[N]>>>,
    onChange: Listener<N> = (...change) => tell(name, ...change),
    transform: (object: Stored<CachedKinds[N]>) => Stored<CachedKinds[N]> = (object) => object,
  ) {
    return startReflector<CachedKinds[N]>({ client, kind, indexes, logger, clock, transform, onChange });
  }

  const policies = start('policies', kinds.guardrailPolicy, { id: byId }, undefined, withoutDefinition);
  const bindings = start(
    'bindings',
    kinds.modelBinding,
    {
      id: byId,
      alias: ({ spec }) => [aliasKey(spec.gateway, spec.model.alias)],
      workload: namedWorkloads,
      policy: ({ spec }) => (spec.guardrail.mode === 'Policy' ? [spec.guardrail.policyRef.name] : []),
      leaving: ({ metadata }) => (metadata.deletionTimestamp === undefined ? [] : ['true']),
    },
    (name, current, previous) => {
      // The version at which the route was deleted is no longer needed.
      if (current === undefined) removals.delete(name);
      tell('bindings', name, current, previous);
    },
  );
  const workloads = start('workloads', kinds.runtimeWorkload, {});
  const routes = start(
    'routes',
    kinds.gatewayRoute,
    {
      alias: ({ spec }) => [aliasKey(spec.gateway, spec.alias)],
      workload: (route) => workloadsOf(route),
      provider: ({ spec }) => [spec.upstream.provider],
    },
    (name, current, previous) => {
      const gateways = [current?.spec.gateway, previous?.spec.gateway];
      if (current !== undefined) {
        removals.delete(name);
        raise(gateways, current.metadata.resourceVersion);
        return tell('routes', name, current, previous);
      }
      // The version of a deletion is known as soon as the reflector has processed it, in the same iteration of the
      // event loop.
      queueMicrotask(() => {
        const version = routes.throughVersion();
        removals.set(name, version);
        raise(gateways, version);
        tell('routes', name, current, previous);
      });
    },
  );
  const reports = start('reports', kinds.gatewayReport, { gateway: ({ spec }) => [spec.gateway] });
  const collections = start('collections', kinds.collection, {});
  const agentVersions = start('agentVersions', kinds.agentVersion, { agent: ({ spec }) => [spec.agent] });
  const agents = start('agents', kinds.agent, {});
  const agentRoutes = start(
    'agentRoutes',
    kinds.agentRoute,
    { version: ({ spec }) => spec.versions.map(({ versionId }) => versionId) },
    (name, current, previous) => {
      if (current !== undefined) {
        agentRemovals.delete(name);
        return tell('agentRoutes', name, current, previous);
      }
      queueMicrotask(() => {
        agentRemovals.set(name, agentRoutes.throughVersion());
        tell('agentRoutes', name, current, previous);
      });
    },
  );
  const all = [policies, bindings, workloads, routes, reports, collections, agentVersions, agents, agentRoutes];
  const stores: Stores = {
    policies: policies.store,
    bindings: bindings.store,
    workloads: workloads.store,
    routes: routes.store,
    reports: reports.store,
    collections: collections.store,
    agentVersions: agentVersions.store,
    agents: agents.store,
    agentRoutes: agentRoutes.store,
  };

  return {
    stores,
    connect(next) {
      listeners = next;
    },
    synced: allSynced(all),
    routesChangedAt: (gateway) => changedAt.get(gateway) ?? '0',
    removalOf: (route) => removals.get(route),
    removalOfAgentRoute: (route) => agentRemovals.get(route),
    silenceMs: () => Math.max(...all.map((reflector) => clock.now() - reflector.lastContact())),
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((reflector) => reflector[Symbol.asyncDispose]()));
    },
  };
}
