import { idLabel } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { type BindingFacts, decideBindingEnd } from './decide-binding-end.ts';
import type { OpenOperation, OperationEnd } from './operation.ts';
import type { OperationStore } from './ports.ts';

export type ModelFactsReader = {
  /** The binding of a model as a live read shows it, with the policy that it names; undefined where there is none. */
  read(modelId: string): Promise<BindingFacts | undefined>;
};

/**
 * Ends an accepted operation on a binding if the operator's ring, or a later change, has ended it.
 * @returns the end; undefined while it goes on
 */
export async function settleOnModel(
  store: Pick<OperationStore, 'finish'>,
  reader: ModelFactsReader,
  operation: OpenOperation,
): Promise<OperationEnd | undefined> {
  const { write, written, target } = operation;
  if (write.type !== 'write_binding' || written === undefined) return undefined;
  const end = decideBindingEnd({ ...operation, write }, written, await reader.read(target.id));
  if (end !== undefined) await store.finish(operation.operationId, end);
  return end;
}

/** The facts of a binding; the id of the policy that it names comes from who knows policies. */
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
    wanted: {
      policyId: isGuarded ? policyId : null,
      policyRevision: isGuarded ? guardrail.policyRef.revision : null,
    },
    contentProfile: spec.contentProfile,
    ring: status?.applications ?? [],
    pinned,
  };
}

/** The id in the management API of an object. */
export function idOf({ metadata }: { readonly metadata: Stored<ModelBinding>['metadata'] }): string | undefined {
  return metadata.labels?.[idLabel];
}
