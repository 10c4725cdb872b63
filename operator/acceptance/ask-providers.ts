import type { Bundle, BundlePolicy } from '#contracts/bundle';
import {
  type AdditionalRule,
  isEnforced,
  providerOf,
  type Rule,
  rulesInOrder,
  type Section,
  type Stage,
} from '#contracts/policy';
import { checkProviderProblem } from '#contracts/provider-causes';
import type { BundleCheck, Judge } from '../bundles/ports.ts';
import type { ProviderQuestion, Silence } from './provider-answers.ts';

/** The text of the check that is sent to providers; the text itself states this purpose. */
const question = 'This is a test of the connection. Please answer it.';

const stages: readonly Stage[] = ['request', 'response'];

/** An enforced rule and the provider that it names. */
type RuleQuestion = ProviderQuestion & { readonly rule: Rule };

/** Makes one question for every enforced rule that names a provider. */
export function providerQuestions(bundle: Bundle): readonly RuleQuestion[] {
  const asked = bundle.policies.flatMap((policy) => stages.flatMap((stage) => remoteRules(policy[stage])));
  return asked.map((rule) => {
    const provider = JSON.stringify(bundle.providers.find(({ name }) => name === providerOf(rule)));
    const { id: _id, action: _action, ...question } = withoutMode(rule);
    return { rule, provider, key: JSON.stringify([provider, question]) };
  });
}

/**
 * Sends one check to the provider of each question within the rule's timeout. Each rule is checked separately, so that
 * no other rule is evaluated first. Only the presence of a verdict matters (docs/design/applications-and-routes.md).
 */
export async function askProviders(
  judge: Pick<Judge, 'check'>,
  bundle: Bundle,
  questions: readonly RuleQuestion[],
  signal: AbortSignal,
): Promise<readonly (Silence | undefined)[]> {
  if (questions.length === 0) return [];
  const policies = questions.map(({ rule }, index) => policyOf(rule, index));
  const checks = policies.map(
    ({ id }): BundleCheck => ({
      name: id,
      policyId: id,
      stage: 'request',
      messages: [{ role: 'user', content: question }],
    }),
  );
  const results = await judge.check({ ...bundle, policies }, checks, { providers: 'called', signal });
  return questions.map(({ rule }, index) => {
    const result = results[index];
    if (result !== undefined && result.decision !== 'Failed') return undefined;
    const code = result?.code ?? 'no answer';
    const found = result?.cause === undefined ? undefined : checkProviderProblem(result.cause);
    const why = found === undefined ? code : `${found.problem} (${code}); to correct it, ${found.remedy}`;
    return {
      message: `the provider ${providerOf(rule)} of the rule ${rule.id} does not answer: ${why}`,
      isOfProvider: code === 'provider_unavailable',
    };
  });
}

function remoteRules(section: Section): readonly Rule[] {
  return rulesInOrder(section).filter((rule) => isEnforced(rule) && providerOf(rule) !== undefined);
}

/** A policy of this rule alone, with a stage budget that leaves the rule its own time. */
function policyOf(rule: Rule, index: number): BundlePolicy {
  const section: Section = {
    deadlineMs: Math.min(5_000, rule.timeoutMs * 2),
    baseline: [withoutMode(rule)],
    additional: [],
  };
  return { id: `ask-${index}`, revision: '1', request: section, response: section };
}

function withoutMode(rule: Rule): Section['baseline'][number] {
  const { mode: _enforced, ...baseline } = rule as AdditionalRule;
  return baseline as Section['baseline'][number];
}
