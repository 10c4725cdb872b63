import { confirmDeletionAnnotation, confirmUnguardedAnnotation } from './kinds.ts';
import type { Resource, Stored } from './metadata.ts';
import type { ModelBinding } from './model-binding.ts';

type ConfirmedObject = { readonly uid: string; readonly generation: number };
type Change = Pick<ModelBinding, 'metadata' | 'spec'>;
/** The preconditions of a deletion, as far as they decide. */
type DeletionConditions = { readonly resourceVersion?: string | undefined };

/**
 * The value that confirms the next change of an object: its uid and generation, separated by a dot. An object that was
 * changed or created again since needs another value, so that an exported object cannot repeat its confirmation.
 */
export function confirmationOf({ uid, generation }: ConfirmedObject): string {
  return `${uid}.${generation}`;
}

/** Why a change of a binding is refused: its guardrail is removed without a confirmation in the same change. */
export function unguardingProblem(before: Stored<Change>, after: Change): string | undefined {
  const { guardrail } = before.spec;
  if (guardrail.mode !== 'Policy' || after.spec.guardrail.mode !== 'None') return undefined;
  const wanted = confirmationOf(before.metadata);
  const confirmation = after.metadata.annotations?.[confirmUnguardedAnnotation];
  const isNew = confirmation !== before.metadata.annotations?.[confirmUnguardedAnnotation];
  if (confirmation === wanted && isNew) return undefined;
  const { name, revision } = guardrail.policyRef;
  return (
    `the model ${after.spec.model.alias} would become UNGUARDED: its requests and answers would not be checked. Now ` +
    `revision ${revision} of ${name} guards it. To confirm it, set the annotation ${confirmUnguardedAnnotation} to ` +
    `${wanted} in the same change, or run: portcullis unbind ${after.metadata.name}`
  );
}

/** Whether a policy guards the requests of the binding now. */
export function isGuarding({ status }: Pick<ModelBinding, 'status'>): boolean {
  return status?.pinned?.policyId !== undefined;
}

/** Why the deletion of a binding is refused: it guards a model, and the deletion is not confirmed. */
export function bindingDeletionProblem(
  binding: Stored<ModelBinding>,
  conditions: DeletionConditions,
): string | undefined {
  if (!isGuarding(binding) || isConfirmed(binding, conditions)) return undefined;
  return (
    `the ModelBinding guards the model ${binding.spec.model.alias}, which would not be served any more; to delete it ` +
    `on purpose: portcullis delete modelbinding ${binding.metadata.name}`
  );
}

/**
 * Why the deletion of a policy is refused: bindings refer to it, and the deletion is not confirmed.
 * @param bindings every binding of the namespace
 */
export function policyDeletionProblem(
  policy: Stored<Resource>,
  bindings: readonly ModelBinding[],
  conditions: DeletionConditions,
): string | undefined {
  const { name } = policy.metadata;
  const users = bindings.filter((binding) => refersTo(binding, name)).map(({ metadata }) => metadata.name);
  if (users.length === 0 || isConfirmed(policy, conditions)) return undefined;
  return (
    `${users.map((user) => `the ModelBinding ${user}`).join(', ')} refers to the GuardrailPolicy ${name}; to delete it ` +
    `on purpose: portcullis delete guardrailpolicy ${name}`
  );
}

function refersTo({ metadata, spec }: ModelBinding, policy: string): boolean {
  const isLeaving = metadata.deletionTimestamp !== undefined;
  return !isLeaving && spec.guardrail.mode === 'Policy' && spec.guardrail.policyRef.name === policy;
}

/**
 * A deletion that was accepted before needs no confirmation. The value of `confirmationOf` confirms only a deletion that
 * names the resource version: what an interrupted command leaves behind allows no deletion by name.
 */
function isConfirmed({ metadata }: Stored<Resource>, { resourceVersion }: DeletionConditions): boolean {
  const confirmation = metadata.annotations?.[confirmDeletionAnnotation];
  const isOfCommand = resourceVersion !== undefined && confirmation === confirmationOf(metadata);
  return metadata.deletionTimestamp !== undefined || confirmation === 'true' || isOfCommand;
}
