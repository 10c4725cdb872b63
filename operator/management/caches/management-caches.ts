import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import type { KubeObject } from '#kube/client/kube-object';
import { allSynced } from '#kube/watch/all-synced';
import type { IndexFunction, StoreView } from '#kube/watch/object-store';
import { type Reflector, startReflector } from '#kube/watch/reflector';
import type { Agent } from '#resources/agent';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import { idLabel, type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import { type CachedPolicy, withoutDefinition } from '../../caches/cached-policy.ts';
import { type KnownRevision, knownRevision } from './known-revision.ts';
import { PolicyOrder } from './policy-order.ts';
import { RevisionIndex } from './revision-index.ts';

/** The resources that the management API watches, without definitions and tests, which may be large. */
export type ManagementCaches = AsyncDisposable & {
  readonly policies: StoreView<CachedPolicy>;
  readonly bindings: StoreView<ModelBinding>;
  /** The agents, without their status. */
  readonly agents: StoreView<Agent>;
  readonly routes: StoreView<GatewayRoute>;
  readonly reports: StoreView<GatewayReport>;
  /** The revisions of a policy that the watch reported, newest first; without gaps, but the newest may be missing. */
  revisions(policyId: string): readonly KnownRevision[];
  /** The revisions of every policy that the watch reported, in no particular order. */
  everyRevision(): readonly KnownRevision[];
  /** The number of revisions, and the bytes of their definitions and tests. */
  readonly stored: { readonly revisions: number; readonly bytes: number };
  /** Ids of the listed policies. */
  readonly order: Pick<PolicyOrder, 'page' | 'size' | 'has'>;
  /** Sets the listener for the id of each model whose binding changed. */
  onModelChange(listener: (modelId: string) => void): void;
  /** Sets the listener for each generation of a ModelBinding that the watch reports, and each new object of a name. */
  onBindingChange(listener: (binding: Stored<ModelBinding>) => void): void;
  /** Sets the listener for each generation of an Agent that the watch reports, and each new object of a name. */
  onAgentChange(listener: (agent: Stored<Agent>) => void): void;
  /** Waits, at most `ms` milliseconds, until a revision is in the cache. @returns whether it is in the cache */
  sawRevision(policyId: string, number: number, ms: number): Promise<boolean>;
  /**
   * A change of any watched resource after this call. `within` settles at the change or after that many milliseconds;
   * it returns false when `endWaits` was called.
   */
  nextChange(): { within(ms: number): Promise<boolean> };
  /** Settles every wait for a change, now and later: requests that wait must not delay a shutdown. */
  endWaits(): void;
  readonly synced: Promise<void>;
  /** Milliseconds since the last contact with the server, for the watch whose last contact is the longest ago. */
  silenceMs(): number;
};

type CachedRevision = KubeObject & { readonly known: KnownRevision };

const byId = ({ metadata }: { readonly metadata: Resource['metadata'] }): string[] => {
  const id = metadata.labels?.[idLabel];
  return id === undefined ? [] : [id];
};

const ignored = (): void => undefined;

/** Whether the API lists a policy: it must have an id that belongs to no other object. */
export function isShown({ metadata, status }: Pick<Stored<CachedPolicy>, 'metadata' | 'status'>): boolean {
  const conflict = status?.conditions?.find((condition) => condition.type === 'IdConflict');
  return metadata.labels?.[idLabel] !== undefined && conflict?.status !== 'True';
}

/** Starts to list and watch. */
export function startManagementCaches(options: {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly logger: Logger;
  readonly clock: Clock;
}): ManagementCaches {
  const { client, logger, clock } = options;
  const revisions = new RevisionIndex();
  const order = new PolicyOrder();
  let onModel: (modelId: string) => void = () => undefined;
  let onBinding: (binding: Stored<ModelBinding>) => void = () => undefined;
  let onAgent: (agent: Stored<Agent>) => void = () => undefined;
  let change = Promise.withResolvers<void>();
  let isEnding = false;

  /** A policy is listed while it is shown and has a revision. */
  function updateOrder(policyId: string): void {
    const shown = policies.store.by('id', policyId).some(isShown);
    if (shown && revisions.of(policyId).length > 0) order.add(policyId);
    else order.remove(policyId);
  }

  function announce(): void {
    change.resolve();
    change = Promise.withResolvers();
  }

  function start<R extends KubeObject>(
    kind: Kind,
    indexes: Readonly<Record<string, IndexFunction<R>>>,
    onChange: (name: string, current: Stored<R> | undefined, previous: Stored<R> | undefined) => void,
    transform: (object: Stored<R>) => Stored<R> = (object) => object,
  ): Reflector<R> {
    return startReflector<R>({
      client,
      kind,
      indexes,
      logger,
      clock,
      transform,
      onChange(name, current, previous) {
        onChange(name, current, previous);
        announce();
      },
    });
  }

  const policies = start<CachedPolicy>(
    kinds.guardrailPolicy,
    { id: byId },
    (_name, current, previous) => {
      const objects = [current, previous].filter((object) => object !== undefined);
      for (const id of objects.flatMap(byId)) updateOrder(id);
    },
    withoutDefinition,
  );
  const recorded = start<CachedRevision>(
    kinds.policyRevision,
    {},
    (_name, current, previous) => {
      if (previous !== undefined) revisions.remove(previous.known);
      if (current !== undefined) revisions.add(current.known);
      for (const object of [current, previous]) if (object !== undefined) updateOrder(object.known.policyId);
    },
    (object) => cachedRevision(object as unknown as Stored<PolicyRevision>),
  );
  const bindings = start<ModelBinding>(kinds.modelBinding, { id: byId }, (_name, current, previous) => {
    const objects = [current, previous].filter((object) => object !== undefined);
    for (const id of objects.flatMap(byId)) onModel(id);
    if (current !== undefined && !isSameGeneration(current, previous)) onBinding(current);
  });
  const agents = start<Agent>(
    kinds.agent,
    {},
    (_name, current, previous) => {
      if (current !== undefined && !isSameGeneration(current, previous)) onAgent(current);
    },
    ({ status: _, ...agent }) => agent,
  );
  const routes = start<GatewayRoute>(kinds.gatewayRoute, {}, ignored);
  const reports = start<GatewayReport>(kinds.gatewayReport, { gateway: ({ spec }) => [spec.gateway] }, ignored);
  const all = [policies, recorded, bindings, agents, routes, reports];

  return {
    policies: policies.store,
    bindings: bindings.store,
    agents: agents.store,
    routes: routes.store,
    reports: reports.store,
    revisions: (policyId) => revisions.of(policyId),
    order,
    onModelChange(listener) {
      onModel = listener;
    },
    onBindingChange(listener) {
      onBinding = listener;
    },
    onAgentChange(listener) {
      onAgent = listener;
    },
    everyRevision: () => revisions.all(),
    get stored() {
      return revisions.stored;
    },
    sawRevision: (policyId, number, ms) => revisions.saw(policyId, number, ms),
    nextChange() {
      const { promise } = change;
      return {
        async within(ms) {
          if (!isEnding) await settleWithin(promise, ms);
          return !isEnding;
        },
      };
    },
    endWaits() {
      isEnding = true;
      announce();
    },
    synced: allSynced(all),
    silenceMs: () => Math.max(...all.map((reflector) => clock.now() - reflector.lastContact())),
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((reflector) => reflector[Symbol.asyncDispose]()));
    },
  };
}

function isSameGeneration({ metadata }: Stored<Resource>, other: Stored<Resource> | undefined): boolean {
  return metadata.uid === other?.metadata.uid && metadata.generation === other.metadata.generation;
}

async function settleWithin(change: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([change, elapsed]);
  clearTimeout(timer);
}

function cachedRevision(revision: Stored<PolicyRevision>): Stored<CachedRevision> {
  const { apiVersion, kind, metadata } = revision;
  return { apiVersion, kind, metadata, known: knownRevision(revision) };
}
