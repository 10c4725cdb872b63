import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';

type Outdated = {
  /** Bindings whose application runs on another build. */
  readonly bindings: readonly Stored<ModelBinding>[];
  /**
   * Names of the bindings whose desired application differs from the current one, so that applying them would change
   * the guardrail.
   */
  readonly skipped: readonly string[];
};

/** The bindings whose workload has another build, in the order of their names. */
export function outdatedBindings(
  build: string,
  objects: {
    readonly bindings: readonly Stored<ModelBinding>[];
    readonly routes: readonly Stored<GatewayRoute>[];
    readonly workloads: readonly Stored<RuntimeWorkload>[];
  },
): Outdated {
  const builds = new Map(objects.workloads.map(({ metadata, spec }) => [metadata.name, spec.build]));
  const routes = new Map(objects.routes.map((route) => [route.metadata.name, route.spec]));
  const isOutdated = ({ metadata }: Stored<ModelBinding>): boolean => {
    const workload = routes.get(metadata.name)?.workload;
    return workload !== undefined && metadata.deletionTimestamp === undefined && builds.get(workload) !== build;
  };
  const outdated = objects.bindings.filter(isOutdated).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const isPinned = (binding: Stored<ModelBinding>): boolean => {
    const route = routes.get(binding.metadata.name);
    return route !== undefined && pins(route, binding);
  };
  return {
    bindings: outdated.filter(isPinned),
    skipped: outdated.filter((binding) => !isPinned(binding)).map((binding) => binding.metadata.name),
  };
}

/**
 * Whether the route pins the desired application. The token distinguishes policies, because this command does not know
 * their ids.
 */
function pins(route: GatewayRoute['spec'], { spec }: Stored<ModelBinding>): boolean {
  if (route.token !== (spec.apply ?? '') || route.contentProfile !== spec.contentProfile) return false;
  if (route.guardrail.mode === 'None' || spec.guardrail.mode === 'None') return false;
  return route.guardrail.policyRevision === String(spec.guardrail.policyRef.revision);
}
