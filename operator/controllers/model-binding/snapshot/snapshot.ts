import type { GatewayRouteSpec } from '#resources/gateway-route';
import type { Condition } from '#resources/metadata';
import type { ModelBindingSpec, ModelBindingStatus } from '#resources/model-binding';
import type { ProviderFact } from '#resources/provider-fact';
import type { ProgressSnapshot, UpstreamView, WorkloadView } from '../../../acceptance/snapshot.ts';
import { type Application, desiredApplication } from '../../../applications/application.ts';
import type { OutcomeHistory } from '../../../applications/outcome-history.ts';
import type { PreviousApplication } from '../../../applications/previous-application.ts';
import type { ReplicaView } from '../../../applications/replica-views.ts';
import type { AliasMove } from '../alias/alias-circle.ts';
import type { Ownership } from '../alias/decide-owner.ts';

export type RouteView = {
  readonly uid: string;
  readonly spec: GatewayRouteSpec;
  readonly previous: PreviousApplication | undefined;
  /** The workload that the route pins; absent for an unguarded route. */
  readonly workload: WorkloadView | undefined;
  /** The workload of the previous application. */
  readonly previousWorkload: WorkloadView | undefined;
};

export type PinnedView = {
  readonly record: NonNullable<ModelBindingStatus['pinned']>;
  /** The workload of the application; absent if the recorded application names no workload. */
  readonly workload: WorkloadView | undefined;
};

export type Snapshot = ProgressSnapshot & {
  readonly binding: {
    readonly name: string;
    readonly uid: string;
    readonly generation: number;
    readonly id: string | undefined;
    readonly hasFinalizer: boolean;
    readonly deleting: boolean;
    readonly spec: ModelBindingSpec;
  };
  readonly conditions: readonly Condition[];
  readonly history: OutcomeHistory;
  /** The pinned application in the status; absent before the first one. */
  readonly pinned: PinnedView | undefined;
  /** The workload that `status` names as starting. */
  readonly starting: ModelBindingStatus['workload'];
  readonly owner: Ownership;
  /**
   * The move of the route to another alias; absent if the route keeps its alias, or already moves to the desired alias.
   */
  readonly move: AliasMove | undefined;
  /** The provider that the route uses; it may differ from the provider that the binding names. */
  readonly routeUpstream: UpstreamView | undefined;
  readonly build: string;
  readonly route: RouteView | undefined;
  readonly replicas: readonly ReplicaView[];
  /** The reports of the replicas about the providers of the route and its rules; `unknown` without a route. */
  readonly provider: ProviderFact;
  /** Replicas that still use the workload of the deleted route; determined while the binding is being deleted. */
  readonly leftBehind: readonly string[];
  /** The application is in progress for longer than the progress deadline. */
  readonly overdue: boolean;
  /** The binding is being deleted for longer than a stream may last. */
  readonly departureOverdue: boolean;
};

/** The application that the binding requests; the id of a policy that cannot be found is unknown. */
export function desiredOf(s: Pick<Snapshot, 'binding' | 'policy'>): Application {
  return desiredApplication(s.binding.spec, s.policy.kind === 'found' ? s.policy.id : undefined);
}
