import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import type { KubeObject } from '#kube/client/kube-object';
import type { IndexFunction, StoreView } from '#kube/watch/object-store';
import { type Reflector, startReflector } from '#kube/watch/reflector';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import { idLabel, type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import { type CachedPolicy, withoutDefinition } from '../caches/cached-policy.ts';
import { PolicyOrder } from './policies/policy-order.ts';
import { type KnownRevision, knownRevision } from './policies/policy-view.ts';

/** What the management API watches; definitions and tests are left out, for they may be large. */
export type ManagementCaches = AsyncDisposable & {
  readonly policies: StoreView<CachedPolicy>;
  readonly bindings: StoreView<ModelBinding>;
  readonly routes: StoreView<GatewayRoute>;
  readonly reports: StoreView<GatewayReport>;
  /** The revisions of a policy that were seen, newest first; without gaps, but the newest ones may not be there yet. */
  revisions(policyId: string): readonly KnownRevision[];
  /** Ids of the policies that the list shows. */
  readonly order: Pick<PolicyOrder, 'page' | 'size'>;
  /** Called with the id of each model whose binding changed. */
  onModelChange(listener: (modelId: string) => void): void;
  /** Waits, at most `ms` milliseconds, until a revision was seen; says whether it was. */
  sawRevision(policyId: string, number: number, ms: number): Promise<boolean>;
  readonly synced: Promise<void>;
  /** The longest time, in milliseconds, for which a watch has not heard of its server. */
  silenceMs(): number;
};

type CachedRevision = KubeObject & { readonly known: KnownRevision };

const byId = ({ metadata }: { readonly metadata: Resource['metadata'] }): string[] => {
  const id = metadata.labels?.[idLabel];
  return id === undefined ? [] : [id];
};

const ignored = (): void => undefined;

/** Whether the API shows a policy: it has an id, and no other object owns that id. */
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
  const revisions = new RevisionShelf();
  const order = new PolicyOrder();
  let onModel: (modelId: string) => void = () => undefined;

  /** A policy is listed while it is shown and has a revision. */
  function place(policyId: string): void {
    const shown = policies.store.by('id', policyId).some(isShown);
    if (shown && revisions.of(policyId).length > 0) order.add(policyId);
    else order.remove(policyId);
  }

  function start<R extends KubeObject>(
    kind: Kind,
    indexes: Readonly<Record<string, IndexFunction<R>>>,
    onChange: (name: string, current: Stored<R> | undefined, previous: Stored<R> | undefined) => void,
    transform: (object: Stored<R>) => Stored<R> = (object) => object,
  ): Reflector<R> {
    return startReflector<R>({ client, kind, indexes, logger, clock, transform, onChange });
  }

  const policies = start<CachedPolicy>(
    kinds.guardrailPolicy,
    { id: byId },
    (_name, current, previous) => {
      const objects = [current, previous].filter((object) => object !== undefined);
      for (const id of objects.flatMap(byId)) place(id);
    },
    withoutDefinition,
  );
  const recorded = start<CachedRevision>(
    kinds.policyRevision,
    {},
    (_name, current, previous) => {
      if (previous !== undefined) revisions.remove(previous.known);
      if (current !== undefined) revisions.add(current.known);
      for (const object of [current, previous]) if (object !== undefined) place(object.known.policyId);
    },
    (object) => cachedRevision(object as unknown as Stored<PolicyRevision>),
  );
  const bindings = start<ModelBinding>(kinds.modelBinding, { id: byId }, (_name, current, previous) => {
    const objects = [current, previous].filter((object) => object !== undefined);
    for (const id of objects.flatMap(byId)) onModel(id);
  });
  const routes = start<GatewayRoute>(kinds.gatewayRoute, {}, ignored);
  const reports = start<GatewayReport>(kinds.gatewayReport, { gateway: ({ spec }) => [spec.gateway] }, ignored);
  const all = [policies, recorded, bindings, routes, reports];

  return {
    policies: policies.store,
    bindings: bindings.store,
    routes: routes.store,
    reports: reports.store,
    revisions: (policyId) => revisions.of(policyId),
    order,
    onModelChange(listener) {
      onModel = listener;
    },
    sawRevision: (policyId, number, ms) => revisions.saw(policyId, number, ms),
    synced: Promise.all(all.map((reflector) => reflector.synced)).then(() => undefined),
    silenceMs: () => Math.max(...all.map((reflector) => clock.now() - reflector.lastContact())),
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((reflector) => reflector[Symbol.asyncDispose]()));
    },
  };
}

function cachedRevision(revision: Stored<PolicyRevision>): Stored<CachedRevision> {
  const { apiVersion, kind, metadata } = revision;
  return { apiVersion, kind, metadata, known: knownRevision(revision) };
}

/** Revisions by policy, newest first, and who waits for one. */
class RevisionShelf {
  readonly #byPolicy = new Map<string, KnownRevision[]>();
  readonly #waiting = new Map<string, Set<() => void>>();

  of(policyId: string): readonly KnownRevision[] {
    return this.#byPolicy.get(policyId) ?? [];
  }

  add(revision: KnownRevision): void {
    const list = this.#byPolicy.get(revision.policyId) ?? [];
    const at = list.findIndex((other) => other.number <= revision.number);
    list.splice(at < 0 ? list.length : at, 0, revision);
    this.#byPolicy.set(revision.policyId, list);
    for (const wake of this.#waiting.get(revision.objectName) ?? []) wake();
  }

  remove({ policyId, number }: KnownRevision): void {
    const left = this.of(policyId).filter((other) => other.number !== number);
    if (left.length === 0) this.#byPolicy.delete(policyId);
    else this.#byPolicy.set(policyId, left);
  }

  async saw(policyId: string, number: number, ms: number): Promise<boolean> {
    const isThere = (): boolean => this.of(policyId).some((revision) => revision.number === number);
    if (isThere()) return true;
    const name = `${policyId}-${number}`;
    const came = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(came.resolve));
    const timer = setTimeout(came.resolve, ms);
    await came.promise;
    clearTimeout(timer);
    waiting.delete(came.resolve);
    if (waiting.size === 0) this.#waiting.delete(name);
    return isThere();
  }
}
