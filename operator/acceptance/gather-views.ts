import type { BundleLimits } from '#contracts/bundle';
import type { ApprovedProvider } from '#contracts/providers';
import { idLabel } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { CachedPolicy } from '../caches/cached-policy.ts';
import type { Caches, Stores } from '../caches/caches.ts';
import type { Environment } from '../environment/read-environment-files.ts';
import type { Workloads } from '../workloads/ports.ts';
import type { PolicyView, WorkloadView } from './snapshot.ts';

/** Inputs of decisions in addition to the objects; they do not change during one pass. */
export type BindingWorld = {
  readonly stores: Stores;
  readonly approved: readonly ApprovedProvider[];
  readonly limits: BundleLimits;
  readonly build: string;
  /** Digest of the pod template; absent without pods. */
  readonly template: string | undefined;
  readonly canRun: Workloads['canRun'];
  /** Reads the resourceVersion at which a route was changed or deleted. */
  readonly history: Pick<Caches, 'routesChangedAt' | 'removalOf'>;
};

/** The inputs of the next pass: the approved providers and limits are read from files that may change. */
export type LiveWorld = Omit<BindingWorld, keyof Environment> & { readonly environment: () => Environment };

export function worldNow(world: LiveWorld): BindingWorld {
  return { ...world, ...world.environment() };
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

/** A workload as an application needs it: ready when the desired number of processes is ready. */
export function workloadView(
  canRun: Workloads['canRun'],
  name: string,
  workload: Stored<RuntimeWorkload> | undefined,
): WorkloadView {
  if (workload === undefined) {
    return {
      name,
      runnable: false,
      ready: false,
      addresses: [],
      problem: `the workload ${name} no longer exists`,
    };
  }
  const { metadata, spec, status } = workload;
  const ready = status?.state === 'Ready' && status.observedGeneration === metadata.generation;
  return {
    name,
    runnable: metadata.deletionTimestamp === undefined && canRun(spec),
    ready,
    addresses: status?.addresses ?? [],
    problem: ready ? undefined : problemOf(workload),
  };
}

function problemOf({ metadata, status }: Stored<RuntimeWorkload>): string | undefined {
  const condition = status?.conditions?.find((one) => one.type === 'Ready');
  return condition?.status === 'False' ? `workload ${metadata.name}: ${condition.message}` : undefined;
}
