import { adviceFor } from '#diagnosis/advice';
import { type DeclaredExplanation, declaredLink, explainDeclared } from '#diagnosis/explain-declared';
import { type Link, operatorLink } from '#diagnosis/links';
import { sentence } from '#diagnosis/sentence';
import type { Surroundings } from '#diagnosis/surroundings';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import type { Stored } from '#resources/metadata';
import { deletionOf } from '../resources/policy-references.ts';

type PolicyState = 'recorded' | 'archived' | 'refused' | 'waiting' | 'deleting';
type PolicyExplanation = DeclaredExplanation<PolicyState> & { readonly policy: string };

/**
 * Explains whether a policy can be applied and, if not, why; also what delays its deletion, and how the deletion can be
 * cancelled. The function is pure.
 * @param surroundings undefined if the processes are not known, as over the management API
 */
export function explainPolicy(
  resource: Stored<GuardrailPolicy>,
  surroundings: Surroundings | undefined,
  program: string,
): PolicyExplanation {
  const { name } = resource.metadata;
  const deletion = deletionLink(resource);
  const chain = [
    ...(surroundings === undefined ? [] : [operatorLink({ surroundings })]),
    ...deletion,
    declaredLink(resource, 'Accepted', 'Accepted'),
    declaredLink(resource, 'Rules', 'Valid'),
    warningsLink(resource),
    ...servedLink(resource),
    // While a policy is being deleted, its condition Ready describes the deletion.
    ...(deletion.length > 0 ? [] : [declaredLink(resource, 'Record', 'Ready')]),
  ];
  const state = stateOfPolicy(resource, chain);
  const explanation = explainDeclared({ title: `GuardrailPolicy ${name}`, state, stateWords, chain, program });
  const { cause } = explanation;
  if (cause === undefined) return { policy: name, ...explanation };
  const reason = cause.part === 'Deletion' ? 'PolicyDeleting' : (cause.reason ?? '');
  const whatToDo = adviceFor(reason, { program, policy: name, binding: 'each binding that the message names' });
  return { policy: name, ...explanation, whatToDo };
}

const stateWords: Readonly<Record<PolicyState, string>> = {
  recorded: 'recorded and can be applied',
  archived: 'archived: bindings that it guards keep it, and it cannot be applied again',
  refused: 'refused',
  waiting: 'not recorded yet',
  deleting: 'being deleted',
};

function stateOfPolicy({ metadata, spec }: Stored<GuardrailPolicy>, chain: readonly Link[]): PolicyState {
  if (metadata.deletionTimestamp !== undefined) return 'deleting';
  if (chain.some(({ part, state }) => part !== 'Operator' && part !== 'Served' && state === 'fault')) return 'refused';
  if (chain.some(({ state }) => state === 'open')) return 'waiting';
  return spec.lifecycle === 'Archived' ? 'archived' : 'recorded';
}

function deletionLink(resource: Stored<GuardrailPolicy>): readonly Link[] {
  const message = deletionOf(resource);
  return message === undefined
    ? []
    : [{ part: 'Deletion', state: 'open', reason: 'DeletionHeld', message: sentence(message) }];
}

/** Absent for a policy that no service calls. */
function servedLink(resource: Stored<GuardrailPolicy>): readonly Link[] {
  const link = declaredLink(resource, 'Served', 'Served');
  return link.state === 'open' ? [] : [link];
}

/** The link for warnings, which forbid nothing. The condition is absent until the rules were judged. */
function warningsLink({ metadata, status }: Stored<GuardrailPolicy>): Link {
  const found = status?.conditions?.find(({ type }) => type === 'Warnings');
  if (found?.observedGeneration !== metadata.generation || found === undefined) {
    return { part: 'Warnings', state: 'aside', reason: 'NotJudged', message: 'The rules have not been judged yet.' };
  }
  const message = sentence(found.message);
  if (found.status === 'True') return { part: 'Warnings', state: 'aside', reason: found.reason, message };
  return { part: 'Warnings', state: 'well', message };
}
