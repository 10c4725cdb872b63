import { listAll } from '#kube/client/list-all';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { OpenedResources, Surroundings } from '../resources/resource-source.ts';

/** How an installation stands, as it was read. */
export type InstallationStatus = {
  readonly namespace: string;
  readonly surroundings: Surroundings;
  readonly bindings: readonly Stored<ModelBinding>[];
  readonly routes: readonly Stored<GatewayRoute>[];
  readonly generations: readonly Stored<RuntimeWorkload>[];
  readonly reports: readonly Stored<GatewayReport>[];
};

/** Reports are read last: they are then at least as new as the routes that they speak of. */
export async function readStatus({ client, surroundings }: OpenedResources): Promise<InstallationStatus> {
  const { items: bindings } = await listAll<ModelBinding>(client, kinds.modelBinding);
  const { items: routes } = await listAll<GatewayRoute>(client, kinds.gatewayRoute);
  const { items: generations } = await listAll<RuntimeWorkload>(client, kinds.runtimeWorkload, {
    transform: withoutManifest,
  });
  const { items: reports } = await listAll<GatewayReport>(client, kinds.gatewayReport);
  return {
    namespace: client.namespace,
    surroundings: await surroundings(),
    bindings,
    routes,
    generations,
    reports,
  };
}

function withoutManifest(generation: Stored<RuntimeWorkload>): Stored<RuntimeWorkload> {
  return { ...generation, spec: { ...generation.spec, manifest: '' } };
}
