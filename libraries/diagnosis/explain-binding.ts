import { applicationOutcome } from '#resources/binding-state';
import type { ChangeNote } from '#resources/change-note';
import { adviceFor, isProgress, ruleProviderAdvice } from './advice.ts';
import { appliedBy } from './applied-by.ts';
import type { BindingDependencies } from './binding-dependencies.ts';
import {
  conditionLink,
  type Link,
  operatorLink,
  pinnedText,
  policyLinks,
  providerLinks,
  referencesLink,
  replicaLinks,
  routeLink,
  workloadLinks,
} from './links.ts';
import { sentence } from './sentence.ts';
import { stateOf } from './shown-state.ts';

const unguardedText = 'UNGUARDED: requests and answers are not checked';

export type Explanation = {
  readonly binding: string;
  readonly state: ReturnType<typeof stateOf>['state'];
  /** The first cause in one sentence, or the statement that the binding is applied. */
  readonly summary: string;
  /** The first cause; absent when there is no problem. */
  readonly cause?: Link;
  readonly whatToDo?: string;
  /** The application that serves requests now. */
  readonly serves: string;
  /** The author and the message of the last change; absent if neither was recorded. */
  readonly appliedBy?: ChangeNote;
  /** The links from the operator to the replicas, in the order of a rollout. */
  readonly chain: readonly Link[];
};

/** Explains whether a binding is applied and, if not, why. Pure. */
export function explainBinding(facts: BindingDependencies, program: string): Explanation {
  const { binding } = facts;
  const { name } = binding.metadata;
  const { state } = stateOf(binding);
  const chain = chainOf(facts);
  const cause = causeOf(facts, chain);
  const note = appliedBy(binding);
  const { guardrail } = binding.spec;
  const names = { program, binding: name, policy: guardrail.mode === 'Policy' ? guardrail.policyRef.name : '' };
  return {
    binding: name,
    state,
    summary: summaryOf(facts, state, cause),
    ...(cause === undefined ? {} : { cause, whatToDo: remedyOf(cause, names) }),
    serves: servedText(facts),
    ...(note === undefined ? {} : { appliedBy: note }),
    chain,
  };
}

function remedyOf({ rule, reason = '' }: Link, names: Parameters<typeof adviceFor>[1]): string {
  const ofRule = rule === undefined ? undefined : ruleProviderAdvice(reason);
  return ofRule ?? adviceFor(reason, names);
}

function servedText({ route, policy }: BindingDependencies): string {
  if (route === undefined) return 'nothing: the alias has no route';
  return route.spec.guardrail.mode === 'None' ? unguardedText : pinnedText(route, policy);
}

function chainOf(facts: BindingDependencies): readonly Link[] {
  return [
    operatorLink(facts),
    ...deletionLink(facts),
    conditionLink('Accepted', 'Accepted', facts),
    referencesLink(facts),
    ...policyLinks(facts),
    conditionLink('Runtime', 'WorkloadReady', facts),
    ...workloadLinks(facts),
    routeLink(facts),
    ...replicaLinks(facts),
    conditionLink('Applied', 'Applied', facts),
    ...providerLinks(facts),
  ];
}

function deletionLink({ binding }: BindingDependencies): readonly Link[] {
  if (binding.metadata.deletionTimestamp === undefined) return [];
  const ready = binding.status?.conditions?.find(({ type }) => type === 'Ready');
  const message = sentence(ready?.reason === 'Deleting' ? ready.message : 'the binding is being deleted');
  return [{ part: 'Deletion', state: 'open', reason: 'Deleting', message }];
}

/**
 * The first step with a problem. A missing leader explains steps that are still open; it does not explain a failed
 * step, and an applied binding stays applied without a leader.
 */
function causeOf(facts: BindingDependencies, chain: readonly Link[]): Link | undefined {
  const [operator, ...others] = chain;
  const first = others.find(({ state }) => state === 'fault' || state === 'open');
  if (first?.state === 'open' && operator?.state === 'fault') return operator;
  if (first?.reason === 'Starting') return others.find(isFaultyWorkload) ?? first;
  if (first?.reason !== 'NotLookedAt') return first;
  // If there is a leader, the cause is that it has not processed the newest generation yet.
  return facts.surroundings.operator.state === 'absent' ? operator : first;
}

/** A workload that does not start by waiting: its reason selects the remedy. */
function isFaultyWorkload({ part, state, reason = '' }: Link): boolean {
  return part.startsWith('Workload') && (state === 'fault' || state === 'open') && !isProgress(reason);
}

function summaryOf({ binding }: BindingDependencies, state: Explanation['state'], cause: Link | undefined): string {
  const { metadata, spec } = binding;
  const what = `ModelBinding ${metadata.name}`;
  const because = cause === undefined ? '' : `: ${cause.part === 'Applied' ? '' : `${cause.part}: `}${cause.message}`;
  switch (state) {
    case 'unguarded':
      if (cause === undefined) return `${what} is UNGUARDED, as its spec declares. The application is confirmed.`;
      if (cause.part === 'Provider')
        return `${what} is UNGUARDED, as its spec declares, and cannot answer: ${cause.message}`;
      return `${what} is UNGUARDED, as its spec declares, but not on every replica${because}`;
    case 'applied':
    case 'disabled': {
      const { guardrail, gateway } = spec;
      const served =
        guardrail.mode === 'None'
          ? 'UNGUARDED'
          : `with revision ${guardrail.policyRef.revision} of ${guardrail.policyRef.name}`;
      const off = state === 'disabled' ? ' The model or its provider is disabled.' : '';
      if (cause?.rule !== undefined)
        return `${what} is applied ${served}, but texts that the rule ${cause.rule} judges are refused: ${cause.message}`;
      if (cause?.part === 'Provider')
        return `${what} is applied ${served}, but its model cannot answer: ${cause.message}`;
      if (cause === undefined)
        return `${what} is applied: every ready replica of ${gateway} serves it ${served}.${off}`;
      return `${what} is applied ${served}, but not everywhere${because}`;
    }
    case 'pending':
      return `${what} is not applied yet${because || '.'}`;
    case 'failed':
      if (applicationOutcome(binding).kind === 'applied')
        return `${what} was applied, but a replica now rejects its route${because || '.'}`;
      return `${what} was not applied${because || '.'}`;
    case 'deleting':
      return `${what} is being deleted${because || '.'}`;
  }
}
