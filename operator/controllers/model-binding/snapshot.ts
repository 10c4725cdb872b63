import type { BundleLimits } from '#contracts/bundle';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import type { Condition } from '#resources/metadata';
import type { ModelBindingSpec, ModelBindingStatus } from '#resources/model-binding';
import type { PolicyRevisionSpec } from '#resources/policy-revision';
import { type Application, desiredApplication } from '../../applications/application.ts';
import type { OutcomeHistory } from '../../applications/outcome-history.ts';
import type { PreviousApplication } from '../../applications/previous-application.ts';
import type { ReplicaView } from '../../applications/replica-views.ts';
import type { BuiltBundle, RefusedBundle } from '../../bundles/build-bundle.ts';
import type { ValidationResult } from '../../bundles/ports.ts';
import type { AliasMove } from './alias/alias-circle.ts';
import type { Ownership } from './alias/decide-owner.ts';

/** The policy that the binding names. */
export type PolicyView =
  /** The name is empty if the binding names none. */
  | { readonly kind: 'absent'; readonly name: string }
  | {
      readonly kind: 'found';
      readonly id: string | undefined;
      readonly archived: boolean;
      readonly deleting: boolean;
      /** Another policy owns the revisions of this policy id. */
      readonly idConflict: boolean;
    };

/** The approved provider that serves the model. */
export type UpstreamView =
  | {
      readonly kind: 'approved';
      readonly provider: string;
      readonly endpoint: string;
      readonly credential: string | undefined;
      readonly enabled: boolean;
    }
  | { readonly kind: 'unknown'; readonly provider: string };

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
  /** Absent where the record names no workload. */
  readonly workload: WorkloadView | undefined;
};

export type WorkloadView = {
  readonly name: string;
  /** False if the workload object is gone or this operator cannot run its build. */
  readonly runnable: boolean;
  readonly ready: boolean;
  readonly addresses: readonly string[];
  /** Why the workload is not ready, if known. */
  readonly problem: string | undefined;
};

/** The facts about one application in this pass; absent means not evaluated. */
export type TargetFacts = {
  readonly revision?: PolicyRevisionSpec | 'absent';
  readonly bundle?: BuiltBundle | RefusedBundle;
  readonly judgement?: ValidationResult;
  readonly workload?: WorkloadView;
  readonly tests?: TrialResult;
  readonly providers?: TrialResult;
};

type TrialResult = { readonly kind: 'passed' } | { readonly kind: 'failed'; readonly message: string };

/** The application that the binding asks for, or the pinned one that is run again. */
export type ApplicationRole = 'desired' | 'pinned';

export type Snapshot = {
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
  /** The pinned application of the status; absent before the first one. */
  readonly pinned: PinnedView | undefined;
  /** The starting workload of the status. */
  readonly starting: ModelBindingStatus['workload'];
  readonly owner: Ownership;
  /** Absent if the route keeps its alias, or moves to the desired one. */
  readonly move: AliasMove | undefined;
  readonly policy: PolicyView;
  readonly upstream: UpstreamView;
  /** The provider that the route uses; it may differ from the one that the binding names. */
  readonly routeUpstream: UpstreamView | undefined;
  readonly limits: BundleLimits;
  readonly build: string;
  readonly route: RouteView | undefined;
  readonly replicas: readonly ReplicaView[];
  /** Replicas that still use the workload of the deleted route; determined while the binding is being deleted. */
  readonly leftBehind: readonly string[];
  /** The application is in progress for longer than the progress deadline. */
  readonly overdue: boolean;
  /** The binding is being deleted for longer than a stream may last. */
  readonly departureOverdue: boolean;
  readonly facts: Readonly<Record<ApplicationRole, TargetFacts>>;
};

/** The application that the binding asks for; the id of a policy that cannot be found is unknown. */
export function desiredOf(s: Pick<Snapshot, 'binding' | 'policy'>): Application {
  return desiredApplication(s.binding.spec, s.policy.kind === 'found' ? s.policy.id : undefined);
}
