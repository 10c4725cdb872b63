import type { Condition, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';

/** In the order in which a person reads them; Ready summarises. */
export const bindingConditions = [
  'Ready',
  'Accepted',
  'ResolvedRefs',
  'WorkloadReady',
  'Applied',
  'RouteRejected',
] as const;
export type BindingCondition = (typeof bindingConditions)[number];

export const conditionStates = ['applied', 'unbound', 'disabled', 'pending', 'failed'] as const;
export type ConditionState = (typeof conditionStates)[number];

/**
 * How a binding stands as its conditions tell: the state of the management API (docs/design/applications-and-routes.md) as of the last status
 * write. Total: what is not told of the present generation is pending, and applied is only what is Ready.
 */
export function conditionState({ metadata, spec, status }: Stored<ModelBinding>): ConditionState {
  const says = (type: BindingCondition) => saidOf({ metadata, status }, type);
  if (metadata.deletionTimestamp !== undefined) return 'pending';
  if (spec.model.state === 'Disabled') return 'disabled';
  const ready = says('Ready');
  if (ready?.status === 'True') {
    if (ready.reason === 'Disabled') return 'disabled';
    return spec.guardrail.mode === 'None' ? 'unbound' : 'applied';
  }
  const isFailed =
    says('Accepted')?.status === 'False' ||
    says('Applied')?.status === 'False' ||
    says('RouteRejected')?.status === 'True';
  return isFailed ? 'failed' : 'pending';
}

/** Whether the conditions say that the application of the present generation is neither in force nor failed. */
export function isInProgress(binding: Stored<ModelBinding>): boolean {
  return saidOf(binding, 'Applied')?.status === 'Unknown';
}

/** What is said of the present generation. */
function saidOf(
  { metadata, status }: Pick<Stored<ModelBinding>, 'metadata' | 'status'>,
  type: BindingCondition,
): Condition | undefined {
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found?.observedGeneration === metadata.generation ? found : undefined;
}
