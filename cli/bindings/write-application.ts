import { v7 as uuidv7 } from 'uuid';
import { applyDesired } from '#kube/apply/apply';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { Guardrail, ModelBinding } from '#resources/model-binding';
import { CliError } from '../errors/cli-error.ts';

/**
 * Starts an application: writes the guardrail and a new token.
 * @throws CliError conflict if the spec of the binding has changed since it was read, or the binding is being deleted
 */
export async function writeApplication(
  client: KubeClient,
  binding: Stored<ModelBinding>,
  guardrail: Guardrail,
): Promise<Stored<ModelBinding>> {
  const { name, deletionTimestamp } = binding.metadata;
  if (deletionTimestamp !== undefined) {
    throw new CliError('conflict', `The ModelBinding ${name} is being deleted: nothing can be applied to it.`);
  }
  const spec = { ...binding.spec, guardrail, apply: uuidv7() };
  try {
    return await applyDesired(client, kinds.modelBinding, binding, { spec }, 'generation');
  } catch (cause) {
    if (!isKubeError(cause, 'precondition_failed', 'conflict')) throw cause;
    throw new CliError(
      'conflict',
      `The ModelBinding ${name} was changed concurrently: read it again and repeat the command.`,
      { cause },
    );
  }
}

/** The new desired guardrail of a binding in words. */
export function desiredText({ spec }: Stored<ModelBinding>, guardrail: Guardrail): string {
  if (guardrail.mode === 'None') return 'UNGUARDED';
  const { name, revision } = guardrail.policyRef;
  const isOther = spec.guardrail.mode === 'None' || spec.guardrail.policyRef.name !== name;
  return isOther ? `revision ${revision} of ${name}` : `revision ${revision}`;
}
