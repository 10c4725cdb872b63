import type { Condition, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';

/** The conditions in the order in which a user reads them; Ready is the summary. */
export const bindingConditions = [
  'Ready',
  'Accepted',
  'ResolvedRefs',
  'WorkloadReady',
  'Applied',
  'RouteRejected',
  'ProviderReachable',
] as const;
export type BindingCondition = (typeof bindingConditions)[number];

export const conditionStates = ['applied', 'unbound', 'disabled', 'pending', 'failed'] as const;
export type ConditionState = (typeof conditionStates)[number];

/** The facts that decide the state of a binding, whether read from its status or observed live. */
type BindingFlags = {
  /** The model or its provider is disabled. */
  readonly isDisabled: boolean;
  /** Every ready replica serves the desired application. */
  readonly isConfirmed: boolean;
  /** The desired application has no guardrail. */
  readonly isUnguarded: boolean;
  /** The desired application failed and is not being retried. */
  readonly isFailed: boolean;
};

/**
 * The order of precedence of the states of a binding (management:binding:state-values). Only this function decides it.
 */
export function stateOfFlags({ isDisabled, isConfirmed, isUnguarded, isFailed }: BindingFlags): ConditionState {
  if (isDisabled) return 'disabled';
  if (isConfirmed) return isUnguarded ? 'unbound' : 'applied';
  return isFailed ? 'failed' : 'pending';
}

/**
 * The state of a binding as of the last status write: the state of the management API
 * (docs/design/applications-and-routes.md), based on conditions instead of live observations. Conditions of an earlier
 * generation count as missing, and only a binding that is Ready is applied.
 */
export function conditionState(binding: Stored<ModelBinding>): ConditionState {
  const { metadata, spec } = binding;
  if (metadata.deletionTimestamp !== undefined) return 'pending';
  const ready = saidOf(binding, 'Ready');
  const isReady = ready?.status === 'True';
  return stateOfFlags({
    isDisabled: spec.model.state === 'Disabled' || (isReady && ready.reason === 'Disabled'),
    isConfirmed: isReady,
    isUnguarded: spec.guardrail.mode === 'None',
    isFailed: applicationOutcome(binding).kind === 'failed' || isDesiredRejected(binding),
  });
}

/**
 * If the previous application, which serves while the desired one is in progress, is rejected, the desired application
 * has not failed.
 */
function isDesiredRejected(binding: Stored<ModelBinding>): boolean {
  const applied = saidOf(binding, 'Applied');
  const isPinned =
    applied?.status === 'True' || ['WaitingForReplicas', 'ProgressDeadlineExceeded'].includes(applied?.reason ?? '');
  return isPinned && saidOf(binding, 'RouteRejected')?.status === 'True';
}

type ApplicationOutcome =
  | { readonly kind: 'applied' }
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string }
  | { readonly kind: 'pending'; readonly message: string };

/**
 * The outcome of the application that the spec requests, as of the last status write. Unlike the state, it does not
 * change back when a replica rejects the route after the application was confirmed.
 */
export function applicationOutcome(binding: Stored<ModelBinding>): ApplicationOutcome {
  const { spec, status } = binding;
  const applied = saidOf(binding, 'Applied');
  if (applied?.status === 'True') return { kind: 'applied' };
  const accepted = saidOf(binding, 'Accepted');
  if (accepted?.status === 'False') return { kind: 'failed', reason: accepted.reason, message: accepted.message };
  // This includes conditions of an earlier generation: while the current generation is pending, they have the latest
  // message.
  const latest = (type: BindingCondition) => status?.conditions?.find((condition) => condition.type === type);
  const said = latest('Applied');
  const message = (said?.status === 'Unknown' ? latest('Ready') : said)?.message;
  const last = status?.applications?.find(({ operationId }) => operationId === (spec.apply ?? ''));
  // A failure before the route was written may be caused by a missing dependency; the application is retried when the
  // dependency appears.
  const isLate = last?.outcome === 'Failed' && last.generationId !== undefined;
  if (applied !== undefined && (applied.status === 'False' || isLate)) {
    const { reason = applied.reason } = last?.outcome === 'Failed' ? last : {};
    return { kind: 'failed', reason, message: message ?? '' };
  }
  return { kind: 'pending', message: message ?? 'the operator has not processed it yet' };
}

/** Whether the conditions state that the application of the current generation is neither applied nor failed. */
export function isInProgress(binding: Stored<ModelBinding>): boolean {
  return saidOf(binding, 'Applied')?.status === 'Unknown';
}

/** The conditions of the current generation. */
function saidOf(
  { metadata, status }: Pick<Stored<ModelBinding>, 'metadata' | 'status'>,
  type: BindingCondition,
): Condition | undefined {
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found?.observedGeneration === metadata.generation ? found : undefined;
}
