import type { BundleLimits } from '#contracts/bundle';
import type { ApprovedProvider } from '#contracts/providers';
import { compareVersions, isVersion } from '#kube/watch/compare-versions';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import { idLabel, operatorFinalizer } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding, ModelBindingStatus } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { readPrevious } from '../../applications/previous-application.ts';
import { replicasOf, sortedReports, waitingReplicas } from '../../applications/replica-views.ts';
import type { CachedPolicy } from '../../caches/cached-policy.ts';
import type { Caches, Stores } from '../../caches/caches.ts';
import { findUpstream } from '../../environment/approved-providers.ts';
import type { Workloads } from '../../workloads/ports.ts';
import { bindingIdOf, moveOf, ownerOf } from './alias/gather-ownership.ts';
import type {
  ApplicationRole,
  PinnedView,
  PolicyView,
  RouteView,
  Snapshot,
  TargetFacts,
  UpstreamView,
  WorkloadView,
} from './snapshot.ts';

/** Inputs of decisions besides the objects; fixed for the life of the process. */
export type BindingWorld = {
  readonly stores: Stores;
  readonly approved: readonly ApprovedProvider[];
  readonly limits: BundleLimits;
  readonly build: string;
  /** Digest of the pod template; absent without pods. */
  readonly template: string | undefined;
  readonly canRun: Workloads['canRun'];
  /** Resource versions at which routes changed and were deleted. */
  readonly history: Pick<Caches, 'routesChangedAt' | 'removalOf'>;
};

/** State of one pass over a binding: the objects as last read or written, and the facts found in this pass. */
export type Pass = {
  readonly binding: Stored<ModelBinding>;
  readonly route: Stored<GatewayRoute> | undefined;
  readonly facts: Readonly<Record<ApplicationRole, TargetFacts>>;
  /** The workload objects of this pass, as read live. */
  readonly workloads: Readonly<Partial<Record<ApplicationRole, Stored<RuntimeWorkload>>>>;
};

/** Reads all inputs of the decision and decides nothing. */
export function gather(world: BindingWorld, pass: Pass): Omit<Snapshot, 'overdue' | 'departureOverdue'> {
  const { stores } = world;
  const { binding, route } = pass;
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
    history: status?.applications ?? [],
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
    leftBehind: metadata.deletionTimestamp === undefined ? [] : leftBehind(world, binding),
    facts: pass.facts,
  };
}

export function policyNamed(stores: Pick<Stores, 'policies'>, name: string | undefined): PolicyView {
  const policy = name === undefined ? undefined : stores.policies.get(name);
  return policy === undefined ? { kind: 'absent', name: name ?? '' } : policyView(policy);
}

/** The id is unknown until the policy's first pass: another policy may own it. */
export function policyView({ metadata, spec, status }: Stored<CachedPolicy>): PolicyView {
  const conflict = status?.conditions?.find((condition) => condition.type === 'IdConflict');
  return {
    kind: 'found',
    id: conflict === undefined ? undefined : metadata.labels?.[idLabel],
    archived: spec.lifecycle === 'Archived',
    deleting: metadata.deletionTimestamp !== undefined,
    idConflict: conflict?.status === 'True',
  };
}

function upstreamOf(approved: readonly ApprovedProvider[], provider: string): UpstreamView {
  const found = findUpstream(approved, provider);
  if (found === undefined) return { kind: 'unknown', provider };
  return { kind: 'approved', provider, endpoint: found.endpoint, credential: found.credential, enabled: found.enabled };
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

/** A workload as an application needs it: ready when the desired number of processes is ready. */
export function workloadView(
  canRun: Workloads['canRun'],
  name: string,
  generation: Stored<RuntimeWorkload> | undefined,
): WorkloadView {
  if (generation === undefined) {
    return {
      name,
      runnable: false,
      ready: false,
      addresses: [],
      problem: `the workload ${name} does not exist any more`,
    };
  }
  const { metadata, spec, status } = generation;
  const ready = status?.state === 'Ready' && status.observedGeneration === metadata.generation;
  return {
    name,
    runnable: metadata.deletionTimestamp === undefined && canRun(spec),
    ready,
    addresses: status?.addresses ?? [],
    problem: ready ? undefined : problemOf(generation),
  };
}

function problemOf({ metadata, status }: Stored<RuntimeWorkload>): string | undefined {
  const condition = status?.conditions?.find((one) => one.type === 'Ready');
  return condition?.status === 'False' ? `workload ${metadata.name}: ${condition.message}` : undefined;
}

/**
 * Replicas, ready or not, that use the workload of the deleted route, or that may not have seen the deletion of the
 * route, so that a request may still begin there (docs/design/applications-and-routes.md).
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
