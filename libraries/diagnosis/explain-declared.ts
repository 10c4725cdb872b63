import type { Condition } from '#resources/metadata';
import { adviceFor } from './advice.ts';
import type { Link } from './links.ts';
import { sentence } from './sentence.ts';

/** Why a resource is, or is not, as it declares. */
export type DeclaredExplanation<State extends string> = {
  readonly state: State;
  /** The first cause in one sentence, or the statement that the resource is ready. */
  readonly summary: string;
  /** The first cause; absent when there is no problem. */
  readonly cause?: Link;
  readonly whatToDo?: string;
  /** The steps from the operator to the declared object. */
  readonly chain: readonly Link[];
};

type Declared<State extends string> = {
  /** Kind and name, the beginning of the summary. */
  readonly title: string;
  readonly state: State;
  readonly stateWords: Readonly<Record<State, string>>;
  /** The operator first. */
  readonly chain: readonly Link[];
  readonly program: string;
};

/**
 * The cause is the first link with a problem. Without an operator no step in progress ends, so that the missing
 * operator is the cause of such a step.
 */
export function explainDeclared<State extends string>(declared: Declared<State>): DeclaredExplanation<State> {
  const { title, state, stateWords, chain, program } = declared;
  const [operator, ...conditions] = chain;
  const first = conditions.find((one) => one.state === 'fault' || one.state === 'open');
  const cause = first?.state === 'open' && operator?.state === 'fault' ? operator : first;
  const names = { program, binding: '', policy: '' };
  const whatToDo = cause === undefined ? undefined : adviceFor(cause.reason ?? '', names);
  return {
    state,
    summary: `${title} is ${stateWords[state]}${cause === undefined ? '.' : `: ${cause.message}`}`,
    ...(cause === undefined ? {} : { cause }),
    ...(whatToDo === undefined ? {} : { whatToDo }),
    chain,
  };
}

export type Conditioned = {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
};

/** A condition of the current generation, as one step. */
export function declaredLink({ metadata, status }: Conditioned, part: string, type: string): Link {
  const condition = status?.conditions?.find((one) => one.type === type);
  if (condition?.observedGeneration !== metadata.generation || condition === undefined) {
    const message = `The operator has not processed generation ${metadata.generation} of the resource yet.`;
    return { part, state: 'open', reason: 'NotLookedAt', message };
  }
  const message = sentence(condition.message);
  if (condition.status === 'True') return { part, state: 'well', message };
  return { part, state: condition.status === 'False' ? 'fault' : 'open', reason: condition.reason, message };
}
