import type { BundleLimits } from '#contracts/bundle';
import type { GatewayRouteSpec, GuardedRoute } from '#resources/gateway-route';
import type { Condition } from '#resources/metadata';
import type { ModelBindingSpec } from '#resources/model-binding';
import type { PolicyRevisionSpec } from '#resources/policy-revision';
import type { BuiltBundle, RefusedBundle } from '../../bundles/build-bundle.ts';
import type { Judgement } from '../../bundles/ports.ts';
import type { Mover } from './alias-circle.ts';
import type { Ownership } from './decide-owner.ts';
import type { Ring } from './ring.ts';

/** The policy that the binding names. */
export type PolicyView =
  /** Its name is empty where none is named. */
  | { readonly kind: 'absent'; readonly name: string }
  | {
      readonly kind: 'found';
      readonly id: string | undefined;
      readonly archived: boolean;
      readonly deleting: boolean;
      /** Another policy owns the revisions of its id. */
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

/** The application to go back to while the pinned one is on trial. It travels with the route, in one write. */
export type PreviousApplication =
  | { readonly mode: 'None' }
  | {
      readonly mode: 'Policy';
      readonly token: string;
      readonly contentProfile: string;
      readonly workload: string;
      readonly guardrail: GuardedRoute;
    };

export type RouteView = {
  readonly uid: string;
  readonly spec: GatewayRouteSpec;
  readonly previous: PreviousApplication | undefined;
  /** The workload that the route pins; absent for an unguarded route. */
  readonly workload: WorkloadView | undefined;
  /** The workload of the previous application. */
  readonly previousWorkload: WorkloadView | undefined;
};

export type WorkloadView = {
  readonly name: string;
  /** False where the object is gone or its build cannot be run here. */
  readonly runnable: boolean;
  readonly ready: boolean;
  readonly addresses: readonly string[];
  /** Why it is not ready, where that is known. */
  readonly problem: string | undefined;
};

/** One replica of the route's gateway, as its report stands to the route. */
export type ReplicaView = {
  readonly name: string;
  readonly ready: boolean;
  readonly readsFormat: boolean;
  /** The report is at or past the version of the route. */
  readonly reached: boolean;
  readonly pending: boolean;
  readonly rejected: string | undefined;
};

/**
 * Where the route of a binding goes whose alias belongs to another one: aside, so that a circle of bindings that wait
 * for each other can move, or from there back to where it came from, which nobody asks for any more.
 */
export type Turn =
  | { readonly kind: 'step_aside'; readonly circle: readonly Mover[] }
  | { readonly kind: 'return'; readonly gateway: string; readonly alias: string };

/** What was found out about one application in this pass; absent means not looked at. */
export type TargetFacts = {
  readonly revision?: PolicyRevisionSpec | 'absent';
  readonly bundle?: BuiltBundle | RefusedBundle;
  readonly judgement?: Judgement;
  readonly workload?: WorkloadView;
  readonly tests?: TrialResult;
  readonly providers?: TrialResult;
};

export type TrialResult = { readonly kind: 'passed' } | { readonly kind: 'failed'; readonly message: string };

/** The application that the binding asks for, or the pinned one that is run again. */
export type Target = 'desired' | 'pinned';

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
  readonly ring: Ring;
  readonly owner: Ownership;
  /** Absent where the route stays where it is, or goes to the alias that the binding asks for. */
  readonly turn: Turn | undefined;
  readonly policy: PolicyView;
  readonly upstream: UpstreamView;
  /** The provider that the route uses now; it may differ from the one that the binding names. */
  readonly routeUpstream: UpstreamView | undefined;
  readonly limits: BundleLimits;
  readonly build: string;
  readonly route: RouteView | undefined;
  readonly replicas: readonly ReplicaView[];
  /** Replicas that still use what the deleted route pinned; looked at while the binding is being deleted. */
  readonly leftBehind: readonly string[];
  /** The application is in progress for longer than the progress deadline. */
  readonly overdue: boolean;
  /** The binding is being deleted for longer than a stream may last. */
  readonly departureOverdue: boolean;
  readonly facts: Readonly<Record<Target, TargetFacts>>;
};
