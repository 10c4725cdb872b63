import { v7 as uuidv7 } from 'uuid';
import { applyDesired } from '#kube/apply/apply';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { Guardrail, ModelBinding } from '#resources/model-binding';
import { CliError } from '../errors/cli-error.ts';

/**
 * Asks for an application: this guardrail, under a new token. Nothing is written where somebody changed the spec of the
 * binding since it was read.
 * @throws CliError conflict
 */
export async function writeApplication(
  client: KubeClient,
  binding: Stored<ModelBinding>,
  guardrail: Guardrail,
): Promise<Stored<ModelBinding>> {
  const { name, deletionTimestamp } = binding.metadata;
  if (deletionTimestamp !== undefined) {
    throw new CliError('conflict', `The ModelBinding ${name} is being deleted: nothing is applied to it any more.`);
  }
  const spec = { ...binding.spec, guardrail, apply: uuidv7() };
  try {
    return await applyDesired(client, kinds.modelBinding, binding, { spec }, 'generation');
  } catch (cause) {
    if (!isKubeError(cause, 'precondition_failed', 'conflict')) throw cause;
    throw new CliError(
      'conflict',
      `The ModelBinding ${name} was changed by somebody else meanwhile: look at it, and repeat the command.`,
      { cause },
    );
  }
}

/** What a binding was told to want, in words. */
export function wants({ spec }: Stored<ModelBinding>, guardrail: Guardrail): string {
  if (guardrail.mode === 'None') return 'no policy';
  const { name, revision } = guardrail.policyRef;
  const isOther = spec.guardrail.mode === 'None' || spec.guardrail.policyRef.name !== name;
  return isOther ? `revision ${revision} of ${name}` : `revision ${revision}`;
}
