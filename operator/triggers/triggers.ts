import { setImmediate as turn } from 'node:timers/promises';
import type { WorkQueue } from '#kube/queue/work-queue';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { policiesNamedBy } from '#resources/protection';
import { namedWorkloads, workloadsOf } from '../applications/named-workloads.ts';
import { readPrevious } from '../applications/previous-application.ts';
import { changedProviders } from '../applications/provider-facts.ts';
import type { CachedPolicy } from '../caches/cached-policy.ts';
import { aliasKey, type Listeners, type Stores } from '../caches/caches.ts';
import { allBundles } from '../controllers/bundle-sweep/controller.ts';
import type { ServedPolicies } from '../served/ports.ts';
import { concernedAgents } from './concerned-agents.ts';
import { createUnconfirmedRoutes } from './unconfirmed-routes.ts';

/** Longest time for queueing objects in one turn of the event loop, milliseconds. */
const turnMs = 2;

export type Queues = Readonly<
  Record<
    | 'policies'
    | 'bindings'
    | 'workloads'
    | 'reports'
    | 'served'
    | 'bundles'
    | 'collections'
    | 'agentVersions'
    | 'agents',
    Pick<WorkQueue, 'add' | 'addAfter'>
  >
>;

/**
 * Decides which passes a change queues. An unnecessary pass costs reads of the cache; a missing pass is made by the
 * next resync.
 */
export function createTriggers(options: {
  readonly queues: Queues;
  readonly stores: Stores;
  /** Queues these workloads, and those that are no longer needed, after a debounce. */
  readonly lookAtWorkloads: (workloads?: readonly string[]) => void;
  /** Bindings that wait for a workload that no route names yet. */
  readonly waitingFor: (workload: string) => readonly string[];
  readonly served: Pick<ServedPolicies, 'entries' | 'pins'> & {
    /** Served policies whose next workload is starting, so that no address resolves to it yet. */
    waitingFor(workload: string): readonly string[];
  };
}): Triggers {
  const { queues, stores, lookAtWorkloads, waitingFor, served } = options;
  const unconfirmed = createUnconfirmedRoutes(stores);
  const addAll = (queue: keyof Queues, objects: readonly AnyObject[]): void => {
    for (const { metadata } of objects) queues[queue].add(metadata.name);
  };
  /**
   * A binding, the binding that has its requested alias, and so on: these may form a cycle, in which one binding must
   * release its alias.
   */
  const chain = (binding: Stored<ModelBinding> | undefined): void => {
    const seen = new Set<string>();
    let next = binding;
    while (next !== undefined && !seen.has(next.metadata.name)) {
      seen.add(next.metadata.name);
      queues.bindings.add(next.metadata.name);
      const holder = stores.routes.by('alias', aliasKey(next.spec.gateway, next.spec.model.alias))[0];
      next = holder === undefined ? undefined : stores.bindings.get(holder.spec.binding.name);
    }
  };
  const sharers = (key: string | undefined): void => {
    if (key !== undefined) for (const binding of stores.bindings.by('alias', key)) chain(binding);
  };
  const policiesOfId = (id: string | undefined): void => {
    if (id !== undefined) addAll('policies', stores.policies.by('id', id));
  };
  /** The deletion of a policy may have waited for this reference or outcome. */
  const release = (policies: readonly (Stored<CachedPolicy> | undefined)[]): void => {
    addAll(
      'policies',
      policies.filter((policy) => policy?.metadata.deletionTimestamp !== undefined).filter((one) => one !== undefined),
    );
  };
  const releaseServed = (route: Stored<GatewayRoute> | undefined): void => {
    for (const id of servedBy(route)) release(stores.policies.by('id', id));
  };

  return {
    async everything() {
      // This list is read before any binding is queued, because a route may be changed or deleted meanwhile.
      await inTurns(stores.routes.list(), ({ metadata: { name } }) =>
        unconfirmed.changed(name, stores.routes.get(name)),
      );
      for (const { metadata } of stores.reports.list()) queues.reports.add(metadata.name);
      for (const name of new Set([...served.entries.map((entry) => entry.name), ...served.pins().keys()])) {
        queues.served.add(name);
      }
      for (const queue of ['policies', 'bindings', 'workloads', 'collections', 'agentVersions', 'agents'] as const) {
        await inTurns<AnyObject>(stores[queue].list(), ({ metadata }) =>
          queues[queue].add(metadata.name, { priority: 'low' }),
        );
      }
      // Bundles that no workload names because the operator stopped between two writes.
      queues.bundles.add(allBundles, { priority: 'low' });
      lookAtWorkloads();
    },
    policies(name, current, previous) {
      // A new policy has normal priority, a status write of the operator low priority.
      const otherwise = previous === undefined ? 'normal' : 'low';
      queues.policies.add(name, { priority: isEdit(current, previous) ? 'high' : otherwise });
      for (const id of [current, previous].map(idOf)) policiesOfId(id);
      addAll('bindings', stores.bindings.by('policy', name));
      for (const entry of served.entries) if (entry.policyRef.name === name) queues.served.add(entry.name);
    },
    bindings(name, current, previous) {
      queues.bindings.add(name, { priority: isEdit(current, previous) ? 'high' : 'normal' });
      for (const binding of [current, previous]) {
        sharers(aliasOf(binding));
        const id = idOf(binding);
        if (id !== undefined) addAll('bindings', stores.bindings.by('id', id));
      }
      releaseServed(stores.routes.get(name));
      if (previous?.spec.guardrail.mode === 'Policy') {
        release([stores.policies.get(previous.spec.guardrail.policyRef.name)]);
      }
      const isChanged =
        current?.spec.replicas !== previous?.spec.replicas || isDeleted(current) !== isDeleted(previous);
      const routed = isChanged ? stores.routes.get(name) : undefined;
      lookAtWorkloads([
        ...[current, previous].flatMap((binding) => (binding === undefined ? [] : namedWorkloads(binding))),
        ...(routed === undefined ? [] : workloadsOf(routed)),
      ]);
    },
    workloads(name, current, previous) {
      queues.workloads.add(name, { priority: isEdit(current, previous) ? 'high' : 'normal' });
      // The workload is queued because its bundle may no longer be needed.
      if (current === undefined) queues.bundles.add(allBundles);
      addAll('bindings', stores.routes.by('workload', name));
      addAll('bindings', stores.bindings.by('workload', name));
      for (const binding of waitingFor(name)) queues.bindings.add(binding);
      for (const entry of served.waitingFor(name)) queues.served.add(entry);
      for (const [entry, pin] of served.pins()) if (pin.workload === name) queues.served.add(entry);
    },
    routes(name, current, previous) {
      queues.bindings.add(name);
      chain(stores.bindings.get(name));
      for (const route of [current, previous]) sharers(aliasOf(route));
      releaseServed(previous);
      unconfirmed.changed(name, current);
      lookAtWorkloads([current, previous].flatMap((route) => (route === undefined ? [] : workloadsOf(route))));
    },
    reports(name, current, previous) {
      queues.reports.add(name);
      const concerned = unconfirmed.concernedBy(current, previous);
      if (concerned === 'all') {
        const gateways = new Set([current?.spec.gateway, previous?.spec.gateway]);
        for (const { metadata, spec } of stores.bindings.list()) {
          if (gateways.has(spec.gateway)) queues.bindings.add(metadata.name, { priority: 'low' });
        }
      } else {
        // Applications in progress are queued first, because a user waits for the outcome.
        for (const binding of concerned) queues.bindings.add(binding, { priority: 'high' });
      }
      const gateway = (current ?? previous)?.spec.gateway;
      const { providers, workloads } = changedProviders(current, previous);
      // The route names the provider and the workload in use, which may differ from those that the binding names.
      const affected = [
        ...[...providers].flatMap((provider) => stores.routes.by('provider', provider)),
        ...[...workloads].flatMap((workload) => stores.routes.by('workload', workload)),
      ];
      for (const { metadata, spec } of affected) {
        if (spec.gateway === gateway) queues.bindings.add(metadata.name, { priority: 'low' });
      }
      addAll('bindings', stores.bindings.by('leaving', 'true'));
      for (const agent of concernedAgents(stores, current, previous)) queues.agents.add(agent);
      lookAtWorkloads();
    },
    agentVersions(name, current, previous) {
      queues.agentVersions.add(name, { priority: isEdit(current, previous) ? 'high' : 'normal' });
      for (const version of [current, previous]) if (version !== undefined) queues.agents.add(version.spec.agent);
      // Unlisted served policies, and deletions of policies, may have waited for this version.
      const appeared = previous === undefined ? current : undefined;
      const changed = appeared ?? (current === undefined ? previous : undefined);
      for (const policy of changed === undefined ? [] : policiesNamedBy(changed.spec)) {
        const pin = served.pins().get(policy);
        if (pin !== undefined && !served.entries.some((entry) => entry.name === policy)) {
          queues.served.add(policy);
          policiesOfId(pin.policyId);
        }
        release([stores.policies.get(policy), ...stores.policies.by('id', pin?.policyId ?? '')]);
      }
    },
    agents(name, current, previous) {
      queues.agents.add(name, { priority: isEdit(current, previous) ? 'high' : 'normal' });
    },
    agentRoutes(name, current, previous) {
      queues.agents.add(name);
      // The deletion of a version may have waited for this change.
      const left = [current, previous].flatMap((route) => route?.spec.versions ?? []);
      for (const version of new Set(left.map((entry) => entry.version))) {
        if (isDeleted(stores.agentVersions.get(version))) queues.agentVersions.add(version);
      }
    },
    collections(name, current, previous) {
      queues.collections.add(name, { priority: isEdit(current, previous) ? 'high' : 'normal' });
    },
    served(name) {
      queues.served.add(name);
      const policyRef = served.entries.find((entry) => entry.name === name)?.policyRef;
      if (policyRef !== undefined) queues.policies.add(policyRef.name);
      policiesOfId(served.pins().get(name)?.policyId);
      const pin = served.pins().get(name);
      lookAtWorkloads(pin === undefined ? [] : [pin.workload, ...pin.previous]);
      // Routes of images name the target of the policy that the gateway applies to them.
      for (const { spec } of stores.agentVersions.list()) if (spec.sdk !== undefined) queues.agents.add(spec.agent);
    },
  };
}

type Triggers = Listeners & {
  /** Queues every object and every served policy at low priority: at the start, and as a resync. */
  readonly everything: () => Promise<void>;
  /** The address of a served policy changed. */
  readonly served: (entry: string) => void;
};

/** Yields to the event loop, so that watches, edits and the lease are served meanwhile. */
async function inTurns<T>(items: readonly T[], each: (item: T) => void): Promise<void> {
  let since = performance.now();
  for (const item of items) {
    each(item);
    if (performance.now() - since < turnMs) continue;
    await turn();
    since = performance.now();
  }
}

type AnyObject = { readonly metadata: Stored<GuardrailPolicy>['metadata'] };

/** A user edited the object. The first list and the operator's own writes have a lower priority. */
function isEdit(current: AnyObject | undefined, previous: AnyObject | undefined): boolean {
  return previous !== undefined && current?.metadata.generation !== previous.metadata.generation;
}

function isDeleted(object: AnyObject | undefined): boolean {
  return object?.metadata.deletionTimestamp !== undefined;
}

function idOf(object: AnyObject | undefined): string | undefined {
  return object?.metadata.labels?.[idLabel];
}

function aliasOf(object: Stored<ModelBinding> | Stored<GatewayRoute> | undefined): string | undefined {
  if (object === undefined) return undefined;
  const alias = 'model' in object.spec ? object.spec.model.alias : object.spec.alias;
  return aliasKey(object.spec.gateway, alias);
}

/** Policies of the pinned and the previous application of a route. */
function servedBy(route: Stored<GatewayRoute> | undefined): readonly string[] {
  if (route === undefined) return [];
  const previous = readPrevious(route);
  const guards = [route.spec.guardrail, previous?.mode === 'Policy' ? previous.guardrail : undefined];
  return guards.flatMap((guard) => (guard?.mode === 'Policy' ? [guard.policyId] : []));
}
