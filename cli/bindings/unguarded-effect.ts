import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { weakenedBy } from '#resources/protection';

/** Whether a policy guards the binding, or its spec requests a policy. */
export function hasGuardrail({ spec, status }: Stored<ModelBinding>): boolean {
  return spec.guardrail.mode === 'Policy' || status?.pinned?.policyId !== undefined;
}

/** The effect of removing the guardrail, as a sentence for the confirmation prompt. */
export function unguardedEffect({ metadata, spec: { guardrail } }: Stored<ModelBinding>): string {
  const now =
    guardrail.mode === 'Policy'
      ? ` At present revision ${guardrail.policyRef.revision} of ${guardrail.policyRef.name} guards it.`
      : '';
  return `ModelBinding ${metadata.name} would become UNGUARDED: its requests and answers would not be checked.${now}`;
}

/** The effects of a change of a binding that removes protection, as sentences for the confirmation prompt. */
export function lostByBinding(current: Stored<ModelBinding>, wanted: ModelBinding['spec']): readonly string[] {
  if (wanted.guardrail.mode === 'None') return hasGuardrail(current) ? [unguardedEffect(current)] : [];
  return weakenedBy(current, wanted).map((effect) => `ModelBinding ${current.metadata.name}: ${effect}.`);
}
