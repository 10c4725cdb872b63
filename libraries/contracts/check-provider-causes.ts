import { type ProviderCause, providerCauses, providerProblems } from './provider-causes.ts';

/** Why a detector or classifier does not judge texts. A label of metrics, and a value of logs and verdicts. */
export const checkProviderCauses = [...providerCauses, 'unexpected_status'] as const;
export type CheckProviderCause = (typeof checkProviderCauses)[number];

type Sentence = { readonly problem: string; readonly remedy: string };

/** Causes that mean something else for a detector or classifier than for a model. */
const own: Partial<Readonly<Record<CheckProviderCause, Sentence>>> = {
  credential_unreadable: {
    problem: 'its credential is empty, cannot be read, or holds more than one key',
    remedy: 'write one key into the file or Secret, and let the runtime read it',
  },
  not_found: {
    problem: 'it does not know the path of the endpoint (status 404)',
    remedy: 'correct the endpoint in providers.yaml',
  },
  model_not_found: {
    problem: 'it does not know the model (status 404, model_not_found)',
    remedy: 'correct the model of the classifier in providers.yaml',
  },
  timeout: {
    problem: 'it does not answer in time',
    remedy: 'check its load and the network, or raise timeoutMs of the rule',
  },
  invalid_answer: {
    problem: 'its answer does not follow the contract',
    remedy: 'correct the endpoint in providers.yaml, or the provider',
  },
  unexpected_status: {
    problem: 'it answers with an unexpected status',
    remedy: 'see the log of the provider',
  },
};

/** Problem and remedy as clauses. They name no host, no file and no text of the provider. */
export function checkProviderProblem(cause: CheckProviderCause): Sentence {
  const found = own[cause] ?? (cause === 'unexpected_status' ? undefined : providerProblems[cause as ProviderCause]);
  if (found === undefined) throw new TypeError('a cause has no sentence');
  return { problem: found.problem, remedy: found.remedy };
}
