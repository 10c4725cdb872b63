import { describeProblem } from '#contracts/describe-problem';
import { currentProfile } from '#contracts/profiles';
import { testWarnings } from '#contracts/test-warnings';
import { CliError } from '../errors/cli-error.ts';
import type { JudgedEnvironment } from '../resources/resource-source.ts';
import { type JudgedPolicy, judgePolicy } from './judge-policy.ts';
import type { PolicyInFile } from './read-policy.ts';

/**
 * Problems of a policy that are reported before the policy is stored, one sentence each: the reason why its rules are
 * refused, or warnings about the rules. The list is also empty if this machine is too slow to validate the policy: the
 * operator validates it in any case.
 */
export async function policyWarnings(
  policy: PolicyInFile,
  { approved, limits }: JudgedEnvironment,
): Promise<readonly string[]> {
  const { tests = [] } = policy.policy.spec;
  const { name } = policy.policy.metadata;
  try {
    const judged = await judgePolicy(policy, {
      contentProfile: currentProfile,
      limits,
      approved,
      checks: tests.map(({ name: test, stage, messages }) => ({ name: test, stage, messages })),
    });
    return tests.length === 0
      ? ruleWarnings(name, judged)
      : [...ruleWarnings(name, judged), ...silentRules(policy, judged)];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (error.exit === 'timeout') return [];
    if (error.exit !== 'refused') throw error;
    return [`${error.message}. It is stored, and it is refused when it is applied to a model`];
  }
}

/** The warnings of the validation: for example about a rule that cannot check streams. */
export function ruleWarnings(name: string, { verdict }: Pick<JudgedPolicy, 'verdict'>): readonly string[] {
  return verdict.warnings.map((warning) => describeProblem(warning, name));
}

/** Local rules that no test of the policy fires. */
export function silentRules(
  { policy: { metadata, spec } }: Pick<PolicyInFile, 'policy'>,
  { verdict }: Pick<JudgedPolicy, 'verdict'>,
): readonly string[] {
  const run = (spec.tests ?? []).map(({ stage }, at) => ({ stage, rules: verdict.results[at]?.rules ?? [] }));
  return testWarnings(spec.definition, run).map((warning) => `policy ${metadata.name}, ${warning}`);
}
