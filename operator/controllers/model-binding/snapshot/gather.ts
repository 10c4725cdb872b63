import type { ApprovedProvider } from '#contracts/providers';
import { compareVersions, isVersion } from '#kube/watch/compare-versions';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import { operatorFinalizer } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding, ModelBindingStatus } from '#resources/model-binding';
import { type ProviderFact, providerFactOf } from '#resources/provider-fact';
import { withoutForgottenCauses } from '#resources/purged-revision';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { type BindingWorld, policyNamed, workloadView } from '../../../acceptance/gather-views.ts';
import type { ApplicationRole, TargetFacts, UpstreamView, WorkloadView } from '../../../acceptance/snapshot.ts';
import { readPrevious } from '../../../applications/previous-application.ts';
import { replicasOf, sortedReports, waitingReplicas } from '../../../applications/replica-views.ts';
import { findUpstream } from '../../../environment/approved-providers.ts';
import { bindingIdOf, moveOf, ownerOf } from '../alias/gather-ownership.ts';
import type { PinnedView, RouteView, Snapshot } from './snapshot.ts';

/**
 * State of one pass over a binding: the objects as they were last read or written, and the facts that this pass found.
 */
export type Pass = {
  readonly world: BindingWorld;
  readonly binding: Stored<ModelBinding>;
  readonly route: Stored<GatewayRoute> | undefined;
  readonly facts: Readonly<Record<ApplicationRole, TargetFacts>>;
  /** The workload objects of this pass, as read live. */
  readonly workloads: Readonly<Partial<Record<ApplicationRole, Stored<RuntimeWorkload>>>>;
};

/** Reads all inputs of the decision; it makes no decision itself. */
export function gather(pass: Pass): Omit<Snapshot, 'overdue' | 'departureOverdue'> {
  const { binding, route, world } = pass;
  const { stores } = world;
  const { metadata, spec, status } = binding;
  const owner = ownerOf(stores, binding);
  return {
    binding: {
      name: metadata.name,
      uid: metadata.uid,
      generation: metadata.generation,
      id: bindingIdOf(binding),
      hasFinalizer: metadata.finalizers?.includes(operatorFinalizer) ?? false,
      deleting: metadata.deletionTimestamp !== undefined,
      spec,
    },
    conditions: status?.conditions ?? [],
    history: withoutForgottenCauses(status?.applications ?? [], metadata),
    pinned: pinnedView(world, status?.pinned),
    starting: status?.workload,
    owner,
    move: owner.kind === 'alias_conflict' && route !== undefined ? moveOf(stores, binding, route) : undefined,
    policy: policyNamed(stores, spec.guardrail.mode === 'Policy' ? spec.guardrail.policyRef.name : undefined),
    upstream: upstreamOf(world.approved, spec.model.provider),
    routeUpstream: route === undefined ? undefined : upstreamOf(world.approved, route.spec.upstream.provider),
    limits: world.limits,
    build: world.build,
    route: route === undefined ? undefined : routeView(world, route),
    replicas: route === undefined ? waitingReplicas(stores, spec.gateway) : replicasOf(stores, route),
    provider: route === undefined ? { kind: 'unknown' } : providerFact(world, route),
    leftBehind: metadata.deletionTimestamp === undefined ? [] : leftBehind(world, binding),
    facts: pass.facts,
  };
}

function upstreamOf(approved: readonly ApprovedProvider[], provider: string): UpstreamView {
  const found = findUpstream(approved, provider);
  if (found === undefined) return { kind: 'unknown', provider };
  return { kind: 'approved', provider, endpoint: found.endpoint, credential: found.credential, enabled: found.enabled };
}

function providerFact({ stores }: BindingWorld, { spec }: Stored<GatewayRoute>): ProviderFact {
  return providerFactOf(
    stores.reports.by('gateway', spec.gateway).map((report) => report.spec),
    spec,
  );
}

function routeView(world: BindingWorld, route: Stored<GatewayRoute>): RouteView {
  const previous = readPrevious(route);
  const view = (name: string): WorkloadView => workloadView(world.canRun, name, world.stores.workloads.get(name));
  return {
    uid: route.metadata.uid,
    spec: route.spec,
    previous,
    workload: route.spec.workload === undefined ? undefined : view(route.spec.workload),
    previousWorkload: previous?.mode === 'Policy' ? view(previous.workload) : undefined,
  };
}

function pinnedView(world: BindingWorld, record: ModelBindingStatus['pinned']): PinnedView | undefined {
  if (record === undefined) return undefined;
  const { workload: name } = record;
  if (name === undefined) return { record, workload: undefined };
  return { record, workload: workloadView(world.canRun, name, world.stores.workloads.get(name)) };
}

/**
 * Replicas, ready or not, that use the workload of the deleted route. A replica that may not have seen the deletion of
 * the route is included, because a request may still begin there (docs/design/applications-and-routes.md).
 */
function leftBehind({ stores, history }: BindingWorld, { metadata, spec, status }: Stored<ModelBinding>) {
  const generationId = status?.pinned?.generationId;
  if (generationId === undefined) return [];
  const isRemovalSeen = stores.routes.get(metadata.name)?.spec.binding.uid !== metadata.uid;
  const gone = history.removalOf(metadata.name) ?? history.routesChangedAt(spec.gateway);
  const isBehind = (report: GatewayReport['spec']): boolean =>
    !isRemovalSeen || !isVersion(report.appliedThrough) || compareVersions(report.appliedThrough, gone) < 0;
  return sortedReports(stores.reports.list())
    .filter(({ spec: report }) => {
      const isUser = report.inUse.some((use) => use.generationId === generationId);
      return isUser || (report.gateway === spec.gateway && isBehind(report));
    })
    .map((report) => report.metadata.name);
}
