import type { FailureReason } from '#resources/model-binding';
import type { AcceptanceStep } from '../../../acceptance/snapshot.ts';
import type { OutcomeRecord } from '../../../applications/application.ts';
import type { PreviousApplication } from '../../../applications/previous-application.ts';
import type { RouteDraft } from '../resources/route.ts';

/** The state of an application at the end of a pass; conditions are derived from it. */
export type PassResult =
  | {
      readonly kind: 'not_accepted';
      readonly reason: 'AliasConflict' | 'IdConflict' | 'InvalidId';
      readonly message: string;
    }
  | { readonly kind: 'unresolved'; readonly reason: string; readonly message: string }
  | { readonly kind: 'starting'; readonly message: string }
  /** A technical fault: the same step is retried. */
  | { readonly kind: 'blocked'; readonly reason: string; readonly message: string }
  | { readonly kind: 'confirming'; readonly message: string }
  | { readonly kind: 'applied' }
  | {
      readonly kind: 'failed';
      readonly reason: FailureReason;
      readonly phase: 'references' | 'workload' | 'replicas';
      /** Absent if only the outcome is known: the condition keeps its message. */
      readonly message: string | undefined;
    }
  | { readonly kind: 'leaving'; readonly message: string };

export type Settlement = {
  readonly result: PassResult;
  /** The outcome to record, once. */
  readonly outcome?: OutcomeRecord;
  /** Reconcile again when the progress deadline has passed. */
  readonly deadline?: boolean;
  /** Why the pinned application cannot be started again. */
  readonly degraded?: string | undefined;
};

export type RouteWrite = {
  readonly kind: 'write_route';
  readonly why: 'apply' | 'run_again' | 'keep' | 'restore' | 'roll_back';
  readonly draft: RouteDraft;
  /** `kept`: of the existing route; `pinned`: of the status. */
  readonly generation: 'new' | 'kept' | 'pinned';
  readonly previous: PreviousApplication | undefined;
};

/** The next step of a pass; after each step the binding is decided again, until the pass has settled. */
export type ReconcileStep =
  | { readonly kind: 'adopt' }
  | { readonly kind: 'delete_route'; readonly why: 'leaving' | 'foreign' | 'tampered' }
  | { readonly kind: 'release' }
  | AcceptanceStep
  | RouteWrite
  | { readonly kind: 'settle'; readonly settlement: Settlement }
  | { readonly kind: 'nothing' };

/** The step that ends a pass. */
export function settleAs(result: PassResult, rest: Omit<Settlement, 'result'> = {}): ReconcileStep {
  return { kind: 'settle', settlement: { result, ...rest } };
}
