import type { BundleLimits } from '#contracts/bundle';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import type { PolicyRevisionSpec } from '#resources/policy-revision';
import type { BuiltBundle, RefusedBundle } from '../bundles/build-bundle.ts';
import type { ValidationResult } from '../bundles/ports.ts';

/** The policy that the binding names. */
export type PolicyView =
  /** The policy is absent; the name is empty if the binding names no policy. */
  | { readonly kind: 'absent'; readonly name: string }
  | {
      readonly kind: 'found';
      readonly id: string | undefined;
      readonly archived: boolean;
      readonly deleting: boolean;
      /** The revisions of this policy id belong to another policy. */
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

export type WorkloadView = {
  readonly name: string;
  /** False if the workload object does not exist or this operator cannot run its build. */
  readonly runnable: boolean;
  readonly ready: boolean;
  readonly addresses: readonly string[];
  /** Why the workload is not ready, if known. */
  readonly problem: string | undefined;
};

/** The facts about one application that were determined in this pass; an absent fact was not determined. */
export type TargetFacts = {
  /** `purged`: its text was removed. */
  readonly revision?: PolicyRevisionSpec | 'absent' | 'purged';
  readonly bundle?: BuiltBundle | RefusedBundle;
  readonly judgement?: ValidationResult;
  readonly workload?: WorkloadView;
  readonly tests?: TrialResult;
  readonly providers?: TrialResult;
};

type TrialResult = { readonly kind: 'passed' } | { readonly kind: 'failed'; readonly message: string };

/** The application that the binding requests, or the pinned application, which is started again. */
export type ApplicationRole = 'desired' | 'pinned';

/** The facts from which the progress of an application is derived. */
export type ProgressSnapshot = {
  readonly policy: PolicyView;
  readonly upstream: UpstreamView;
  readonly route: { readonly spec: GatewayRouteSpec } | undefined;
  readonly limits: BundleLimits;
  readonly facts: Readonly<Record<ApplicationRole, TargetFacts>>;
};

/** A step that determines one fact about an application. */
export type AcceptanceStep =
  | { readonly kind: 'read_revision'; readonly target: ApplicationRole; readonly name: string }
  | { readonly kind: 'build_bundle'; readonly target: ApplicationRole; readonly contentProfile: string }
  | { readonly kind: 'judge'; readonly target: ApplicationRole }
  | { readonly kind: 'ensure_workload'; readonly target: ApplicationRole }
  | { readonly kind: 'run_tests'; readonly target: ApplicationRole; readonly contentProfile: string }
  | { readonly kind: 'ask_providers'; readonly target: ApplicationRole };
