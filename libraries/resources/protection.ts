import { expandJudge } from '#contracts/judged-texts';
import type { AgentVersion } from './agent-version.ts';
import type { GuardrailPolicy } from './guardrail-policy.ts';
import { confirmDeletionAnnotation, confirmUnguardedAnnotation } from './kinds.ts';
import type { Resource, Stored } from './metadata.ts';
import type { ModelBinding } from './model-binding.ts';

type ConfirmedObject = { readonly uid: string; readonly generation: number };
type Change = Pick<ModelBinding, 'metadata' | 'spec'>;
type Spec = ModelBinding['spec'];
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
  if (isChangeConfirmed(before, after)) return undefined;
  const { name, revision } = guardrail.policyRef;
  return (
    `the model ${after.spec.model.alias} would become UNGUARDED: its requests and answers would not be checked. Now ` +
    `revision ${revision} of ${name} guards it. To confirm it, set the annotation ${confirmUnguardedAnnotation} to ` +
    `${confirmationOf(before.metadata)} in the same change, or run: portcullis unbind ${after.metadata.name}`
  );
}

/**
 * The protection that a binding with a guarded model would lose by a change that keeps its policy: one sentence without
 * a full stop for each loss.
 */
export function weakenedBy(before: Pick<ModelBinding, 'spec' | 'status'>, after: Spec): readonly string[] {
  if (!isGuarding(before) || after.guardrail.mode === 'None') return [];
  const { model, gateway, judge, unjudged, streaming } = before.spec;
  const judged = after.judge === undefined ? [] : expandJudge(after.judge);
  const lost = judge === undefined ? [] : expandJudge(judge).filter((kind) => !judged.includes(kind));
  return [
    ...(after.model.alias === model.alias ? [] : [`the binding would stop serving the model ${model.alias}`]),
    ...(after.gateway === gateway ? [] : [`the gateway ${gateway} would stop serving the model ${model.alias}`]),
    ...(lost.length === 0 ? [] : [`texts of these kinds would not be judged: ${lost.join(', ')}`]),
    ...(unjudged === 'Refuse' && after.unjudged !== 'Refuse' ? [forwardedText] : []),
    ...(streaming !== 'Allowed' && after.streaming === 'Allowed' ? [streamedText] : []),
  ];
}

export const forwardedText = 'requests and answers with text that is not judged would be forwarded';
export const streamedText = 'answers would be streamed although a longer match of some rules may pass';

/** Why a change of a binding is refused: it protects less, and the change does not confirm it. */
export function weakeningProblem(before: Stored<ModelBinding>, after: Change): string | undefined {
  const weakened = weakenedBy(before, after.spec);
  if (weakened.length === 0 || isChangeConfirmed(before, after)) return undefined;
  return (
    `${weakened.join('; ')}. To confirm it, set the annotation ${confirmUnguardedAnnotation} to ` +
    `${confirmationOf(before.metadata)} in the same change, or run: portcullis edit modelbinding ${after.metadata.name}`
  );
}

/**
 * Whether a change confirms its loss of protection: with a value that names the object and that the object did not have
 * before.
 */
function isChangeConfirmed(before: Pick<Stored<Resource>, 'metadata'>, after: Pick<Resource, 'metadata'>): boolean {
  const confirmation = after.metadata.annotations?.[confirmUnguardedAnnotation];
  const isNew = confirmation !== before.metadata.annotations?.[confirmUnguardedAnnotation];
  return confirmation === confirmationOf(before.metadata) && isNew;
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
    `the ModelBinding guards the model ${binding.spec.model.alias}, which would no longer be served; to delete it ` +
    `on purpose: portcullis delete modelbinding ${binding.metadata.name}`
  );
}

/** A reference to a policy: a resource, or a name in `served-policies.yaml`. */
export type PolicyUser = { readonly kind: 'ModelBinding' | 'AgentVersion' | 'ServedPolicy'; readonly name: string };

/** The resources that can refer to a policy, all of the namespace. */
export type PolicyReferrers = {
  readonly bindings: readonly Pick<ModelBinding, 'metadata' | 'spec'>[];
  readonly versions: readonly Pick<AgentVersion, 'metadata' | 'spec'>[];
};

/**
 * All objects that refer to a policy and are not being deleted themselves. A version of an agent names a served policy;
 * if no served policy has this name, it names the policy.
 */
export function usersOfPolicy(
  { metadata, status }: Stored<GuardrailPolicy>,
  { bindings, versions }: PolicyReferrers,
): readonly PolicyUser[] {
  const servedAs = status?.servedAs ?? [];
  const names = [metadata.name, ...servedAs];
  const remaining = <R extends Pick<Resource, 'metadata'>>(resources: readonly R[]): readonly R[] =>
    resources.filter((one) => one.metadata.deletionTimestamp === undefined);
  return [
    ...remaining(bindings)
      .filter(({ spec: { guardrail } }) => guardrail.mode === 'Policy' && guardrail.policyRef.name === metadata.name)
      .map((binding) => ({ kind: 'ModelBinding', name: binding.metadata.name }) as const),
    ...remaining(versions)
      .filter(({ spec }) => versionNames(spec, names))
      .map((version) => ({ kind: 'AgentVersion', name: version.metadata.name }) as const),
    ...servedAs.map((name) => ({ kind: 'ServedPolicy', name }) as const),
  ];
}

/** A user of a policy in a sentence. */
function policyUserText({ kind, name }: PolicyUser): string {
  return kind === 'ServedPolicy' ? `the served policy ${name}` : `the ${kind} ${name}`;
}

/** The reason why the deletion of a policy is refused: it is referenced, and the deletion is not confirmed. */
export function policyDeletionProblem(
  policy: Stored<GuardrailPolicy>,
  referrers: PolicyReferrers,
  conditions: DeletionConditions,
): string | undefined {
  const { name } = policy.metadata;
  const users = usersOfPolicy(policy, referrers);
  if (users.length === 0 || isConfirmed(policy, conditions)) return undefined;
  return (
    `${users.map(policyUserText).join(', ')} refers to the GuardrailPolicy ${name}; to delete it on purpose: ` +
    `portcullis delete guardrailpolicy ${name}`
  );
}

/** The names of policies, or of served policies, that a version of an agent refers to. */
export function policiesNamedBy({ guardrails, requires }: AgentVersion['spec']): ReadonlySet<string> {
  const guards = [guardrails.input, guardrails.output];
  return new Set([
    ...guards.flatMap((guardrail) => (guardrail.mode === 'Policy' ? [guardrail.policyRef.name] : [])),
    ...requires.flatMap(({ kind, name }) => (kind === 'Policy' ? [name] : [])),
  ]);
}

function versionNames(spec: AgentVersion['spec'], names: readonly string[]): boolean {
  const named = policiesNamedBy(spec);
  return names.some((name) => named.has(name));
}

/**
 * A deletion that was already accepted needs no confirmation. The value of `confirmationOf` confirms only a deletion
 * that names the resource version: an annotation that is left by an interrupted command does not allow a deletion by
 * name.
 */
function isConfirmed({ metadata }: Stored<Resource>, { resourceVersion }: DeletionConditions): boolean {
  const confirmation = metadata.annotations?.[confirmDeletionAnnotation];
  const isOfCommand = resourceVersion !== undefined && confirmation === confirmationOf(metadata);
  return metadata.deletionTimestamp !== undefined || confirmation === 'true' || isOfCommand;
}
