import type { BindingDependencies } from '#diagnosis/binding-dependencies';
import type { Surroundings } from '#diagnosis/surroundings';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { GatewayReplicas } from '../../gateways/ports.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';

/** This API does not read processes; their absence is visible in conditions and reports. */
const unseen: Surroundings = {
  operator: { state: 'unknown', message: 'the management API does not read processes', replicas: [] },
  problems: [],
};

/** The facts that explain a binding, from the watched resources: no request to the resource server. */
export function knownDependencies({
  caches,
  binding,
  route,
  reports,
}: {
  readonly caches: Pick<ManagementCaches, 'policies'>;
  readonly binding: Stored<ModelBinding>;
  readonly route: Stored<GatewayRoute> | undefined;
  readonly reports: readonly Stored<GatewayReport>[];
}): BindingDependencies {
  const { guardrail, gateway } = binding.spec;
  const policy = guardrail.mode === 'Policy' ? caches.policies.get(guardrail.policyRef.name) : undefined;
  return {
    binding,
    // The words need names, labels and lifecycle, not the definition that the cache leaves out.
    ...(policy === undefined ? {} : { policy: policy as unknown as Stored<GuardrailPolicy> }),
    ...(route === undefined ? {} : { route }),
    // The condition Runtime has their summary, and the role of this API cannot read them.
    workloads: 'unread',
    reports: reports.filter(({ spec }) => spec.gateway === gateway),
    surroundings: unseen,
  };
}

/** The reports of running gateway replicas, ordered by name. */
export async function runningReports({
  caches,
  gateways,
}: {
  readonly caches: Pick<ManagementCaches, 'reports'>;
  readonly gateways: Pick<GatewayReplicas, 'isAlive'>;
}): Promise<readonly Stored<GatewayReport>[]> {
  const reports: Stored<GatewayReport>[] = [];
  for (const report of caches.reports.list()) {
    if (await gateways.isAlive(report.metadata.name)) reports.push(report);
  }
  return reports.sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
}
