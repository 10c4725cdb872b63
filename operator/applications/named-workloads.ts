import type { GatewayRoute } from '#resources/gateway-route';
import type { ModelBinding } from '#resources/model-binding';
import { readPrevious } from './previous-application.ts';

/** The workloads that the status of a binding names. */
export function namedWorkloads({ status }: Pick<ModelBinding, 'status'>): readonly string[] {
  return [status?.workload?.name, status?.pinned?.workload].filter((name) => name !== undefined);
}

/** The workloads that a route names: the workload of the pinned application, and that of the previous application. */
export function workloadsOf(route: GatewayRoute): readonly string[] {
  const previous = readPrevious(route);
  const names = [route.spec.workload, previous?.mode === 'Policy' ? previous.workload : undefined];
  return names.filter((name) => name !== undefined);
}
