import type { Command } from 'commander';
import { describeProblem } from '#contracts/describe-problem';
import type { JudgeVerdict } from '#contracts/judge';
import type { PolicyTest } from '#crds/guardrail-policy';
import { CliError } from '../cli-error.ts';
import { readLimits, readProviders } from '../manifests/read-environment-files.ts';
import { writeJson, writeText } from '../output/write.ts';
import { judgePolicy } from '../policy/judge-policy.ts';
import { type PolicyInFile, readPolicies } from '../policy/read-policy.ts';
import { withJson } from './platform-options.ts';
import { type PolicyFileOptions, withPolicyFileOptions } from './policy-file-options.ts';

type TestOptions = PolicyFileOptions & { readonly json?: boolean };
type TestRow = {
  readonly policy: string;
  readonly test: string;
  readonly expect: PolicyTest['expect'];
  readonly decision: JudgeVerdict['results'][number]['decision'];
  readonly rules: readonly string[];
  readonly code?: string;
  readonly passed: boolean;
};

export function addPolicyTest(program: Command): void {
  const policy = program.command('policy').description('work on policy files, without any server');
  const command = policy
    .command('test')
    .description('say whether the rules would be admitted, and run the tests of the policies in a file')
    .argument('<file>', 'file with GuardrailPolicies');
  withJson(withPolicyFileOptions(command)).action(test);
}

async function test(file: string, options: TestOptions): Promise<void> {
  const rows: TestRow[] = [];
  const warnings: string[] = [];
  for (const policy of readPolicies(file)) {
    const { verdict } = await judgePolicy(policy, {
      contentProfile: options.profile,
      limits: readLimits(options.limits),
      approved: readProviders(options.providers),
      checks: (policy.policy.spec.tests ?? []).map(({ name, stage, messages }) => ({ name, stage, messages })),
    });
    rows.push(...rowsOf(policy, verdict));
    warnings.push(...warningsOf(policy, verdict));
  }
  const failed = rows.filter(({ passed }) => !passed);
  if (options.json === true) writeJson({ tests: rows, warnings });
  else
    writeText(
      [...rows.map(describe), ...warnings, `${rows.length - failed.length} of ${rows.length} tests passed`].join('\n'),
    );
  if (failed.length > 0)
    throw new CliError('tests_failed', `${file}: ${failed.length} of ${rows.length} tests failed.`);
}

function rowsOf({ policy }: PolicyInFile, { results }: JudgeVerdict): readonly TestRow[] {
  return (policy.spec.tests ?? []).map(({ name, expect }, at) => {
    const result = results[at];
    if (result === undefined) throw new CliError('failed', `The judgement has no result for the test ${name}.`);
    const { decision, rules, code } = result;
    const passed = decision === expect;
    return {
      policy: policy.metadata.name,
      test: name,
      expect,
      decision,
      rules,
      ...(code === undefined ? {} : { code }),
      passed,
    };
  });
}

function warningsOf({ policy }: PolicyInFile, { warnings, streaming, results }: JudgeVerdict): readonly string[] {
  const { name } = policy.metadata;
  const skipped = new Set(results.flatMap((result) => result.skipped));
  return [
    ...warnings.map((warning) => `warning: ${describeProblem(warning, name)}`),
    ...streaming
      .filter(({ allowed }) => !allowed)
      .map(({ rule }) => `warning: policy ${name}: answers cannot be streamed because of the rule ${rule ?? '?'}`),
    ...[...skipped].map((rule) => `warning: policy ${name}: the rule ${rule} was not run, because it needs a provider`),
  ];
}

function describe({ test: name, expect, decision, rules, code, passed }: TestRow): string {
  const by = rules.length === 0 ? '' : ` by ${rules.join(', ')}`;
  const got = `${decision}${code === undefined ? '' : ` (${code})`}${by}`;
  return passed ? `passed  ${name}: ${got}` : `FAILED  ${name}: expected ${expect}, got ${got}`;
}
