import { applicationOutcome, type ConditionState, conditionState } from '#resources/binding-state';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';

/**
 * The states of the management API, with two changes: `unguarded` is `unbound` there, and `deleting` is `pending`
 * there.
 */
export type ShownState = Exclude<ConditionState, 'unbound'> | 'unguarded' | 'deleting';

/** The state of a binding, and the reason why it is not the desired state. */
export function stateOf(binding: Stored<ModelBinding>): { readonly state: ShownState; readonly why?: string } {
  const { metadata, status } = binding;
  if (metadata.deletionTimestamp !== undefined) return { state: 'deleting', why: readyMessage(binding) };
  const state = conditionState(binding);
  const shown = state === 'unbound' ? 'unguarded' : state;
  const outcome = applicationOutcome(binding);
  if (outcome.kind !== 'applied') return { state: shown, why: outcome.message };
  const rejected = status?.conditions?.find(({ type, status: value }) => type === 'RouteRejected' && value === 'True');
  if (rejected !== undefined) return { state: shown, why: rejected.message };
  const unreachable = status?.conditions?.find(
    ({ type, status: value }) => type === 'ProviderReachable' && value === 'False',
  );
  if (unreachable !== undefined && state !== 'pending') return { state: shown, why: unreachable.message };
  return { state: shown, ...(state === 'pending' ? { why: readyMessage(binding) } : {}) };
}

function readyMessage({ status }: Stored<ModelBinding>): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? 'the operator has not processed it yet';
}
