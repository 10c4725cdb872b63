import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { OpenCommandRecord, OperationEnd } from './command-record.ts';
import { type BindingFacts, decideBindingEnd } from './decide-binding-end.ts';
import type { OperationStore } from './ports.ts';

export type ModelFactsReader = {
  /** Reads the binding of a model and its policy live; undefined if there is no binding. */
  read(modelId: string): Promise<BindingFacts | undefined>;
};

/**
 * Ends an accepted operation on a binding if the operator recorded its outcome, or a later change superseded it.
 * @returns the end of the operation; undefined while it is in progress
 */
export async function settleOnModel(
  store: Pick<OperationStore, 'finish'>,
  reader: ModelFactsReader,
  operation: OpenCommandRecord,
): Promise<OperationEnd | undefined> {
  const { write, written, target } = operation;
  if (write.type !== 'write_binding' || written === undefined) return undefined;
  const end = decideBindingEnd({ ...operation, write }, written, await reader.read(target.id));
  if (end !== undefined) await store.finish(operation.operationId, end);
  return end;
}

/** @param policyId the id of the policy that the binding names; undefined if it does not exist */
export function bindingFacts(
  binding: Stored<ModelBinding>,
  policyId: string | undefined,
  pinned: BindingFacts['pinned'],
): BindingFacts {
  const { metadata, spec, status } = binding;
  const { guardrail } = spec;
  const isGuarded = guardrail.mode === 'Policy';
  return {
    uid: metadata.uid,
    generation: metadata.generation,
    token: spec.apply ?? '',
    desired: {
      policyId: isGuarded ? policyId : null,
      policyRevision: isGuarded ? guardrail.policyRef.revision : null,
    },
    contentProfile: spec.contentProfile,
    history: status?.applications ?? [],
    pinned,
  };
}
