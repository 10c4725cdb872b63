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
import type { BundleCheck, Judge } from '../bundles/ports.ts';

/** The text of the check that is sent to providers. It states its purpose. */
const question = 'This is a test of the connection. Please answer it.';

const stages: readonly Stage[] = ['request', 'response'];

/**
 * Sends one check to every provider that an enforced rule names, each rule separately so that no other rule is evaluated
 * first, within the rule's timeout. Only the presence of a verdict matters (docs/design/applications-and-routes.md).
 * @returns a sentence for every provider that does not answer
 */
export async function askProviders(
  judge: Pick<Judge, 'check'>,
  bundle: Bundle,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const asked = bundle.policies.flatMap((policy) => stages.flatMap((stage) => remoteRules(policy[stage])));
  if (asked.length === 0) return [];
  const policies = asked.map((rule, index) => policyOf(rule, index));
  const checks = policies.map(
    ({ id }): BundleCheck => ({
      name: id,
      policyId: id,
      stage: 'request',
      messages: [{ role: 'user', content: question }],
    }),
  );
  const results = await judge.check({ ...bundle, policies }, checks, { providers: 'called', signal });
  return asked.flatMap((rule, index) => {
    const result = results[index];
    if (result !== undefined && result.decision !== 'Failed') return [];
    const code = result?.code ?? 'no answer';
    return [`the provider ${providerOf(rule)} of the rule ${rule.id} does not answer: ${code}`];
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
