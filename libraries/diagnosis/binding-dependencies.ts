import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { Surroundings } from './surroundings.ts';

/** The resources that decide whether a binding is applied, as they were read. */
export type BindingDependencies = {
  readonly binding: Stored<ModelBinding>;
  /** The policy that the binding names; absent if it names none or the policy does not exist. */
  readonly policy?: Stored<GuardrailPolicy>;
  readonly route?: Stored<GatewayRoute>;
  /** The workload of the route and the workload of the application in progress; `unread` if workloads are not read. */
  readonly workloads: readonly Stored<RuntimeWorkload>[] | 'unread';
  /** Reports of the replicas of the gateway of the binding. */
  readonly reports: readonly Stored<GatewayReport>[];
  readonly surroundings: Surroundings;
};
