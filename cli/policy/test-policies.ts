import type { JudgeVerdict } from '#contracts/judge';
import type { PolicyTest } from '#resources/guardrail-policy';
import { CliError } from '../errors/cli-error.ts';
import { formatOf, type OutputOptions, writeResult } from '../output/format.ts';
import type { JudgedEnvironment } from '../resources/resource-source.ts';
import { judgePolicy } from './judge-policy.ts';
import { ruleWarnings, silentRules } from './policy-warnings.ts';
import type { PolicyInFile } from './read-policy.ts';

type TestPoliciesOptions = OutputOptions & {
  /** Content profile. */
  readonly profile: string;
  /** The name of the tested policies in the message about failures. */
  readonly what: string;
  /** The file of the approved providers, if the user names a file. */
  readonly providers?: string;
};

type TestRow = {
  readonly policy: string;
  readonly test: string;
  /** Position in `spec.tests`. */
  readonly at: number;
  readonly expect: PolicyTest['expect'];
  readonly decision: JudgeVerdict['results'][number]['decision'];
  readonly rules: readonly string[];
  readonly code?: string;
  readonly passed: boolean;
};

/**
 * Validates policies, runs their tests and writes the results. After a refused policy the other policies are still
 * tested.
 * @throws CliError tests_failed; refused, with every refusal and failure, if a policy is refused
 */
export async function testPolicies(
  policies: readonly PolicyInFile[],
  { approved, limits }: JudgedEnvironment,
  { profile, what, providers, ...output }: TestPoliciesOptions,
): Promise<void> {
  const rows: TestRow[] = [];
  const warnings: string[] = [];
  const refusals: CliError[] = [];
  for (const policy of policies) {
    const judged = await judgePolicy(policy, {
      contentProfile: profile,
      limits,
      approved,
      approvedIn: providers,
      checks: (policy.policy.spec.tests ?? []).map(({ name, stage, messages }) => ({ name, stage, messages })),
    }).catch(refusalOf);
    if (judged instanceof CliError) {
      refusals.push(judged);
      continue;
    }
    const { verdict } = judged;
    rows.push(...rowsOf(policy, verdict));
    warnings.push(...warningsOf(policy, verdict));
  }
  const failed = rows.filter(({ passed }) => !passed);
  const count = `${rows.length - failed.length} of ${rows.length} tests passed`;
  if (refusals.length < policies.length) {
    writeResult(formatOf(output), { tests: rows, warnings }, () =>
      [...rows.map((row) => describe(row, policies.length > 1)), ...warnings, count].join('\n'),
    );
  }
  const failures = failed.length === 0 ? [] : [failureSentence(what, rows, failed)];
  if (refusals.length > 0) {
    throw new CliError('refused', [...refusals.map(({ message }) => message), ...failures].join('\n'));
  }
  for (const sentence of failures) throw new CliError('tests_failed', sentence);
}

/** @throws each error other than the refusal of a policy unchanged */
function refusalOf(error: unknown): CliError {
  if (error instanceof CliError && error.exit === 'refused') return error;
  throw error;
}

/** The sentence names the first failed test with its place; the lines of the output name the other tests. */
function failureSentence(what: string, rows: readonly TestRow[], failed: readonly TestRow[]): string {
  const [first] = failed;
  const place =
    first === undefined
      ? ''
      : `policy ${first.policy}, spec.tests[${first.at}] (${first.test}): expected ${first.expect}, ` +
        `got ${decisionOf(first, 'by the rule')}. `;
  const others = failed.length > 1 ? 'The lines that begin with FAILED name the others. ' : '';
  return (
    `${what}: ${failed.length} of ${rows.length} tests failed: ${place}${others}` +
    'Correct the rule, or "expect" of the test.'
  );
}

function rowsOf({ policy }: PolicyInFile, { results }: JudgeVerdict): readonly TestRow[] {
  return (policy.spec.tests ?? []).map(({ name, expect }, at) => {
    const result = results[at];
    if (result === undefined) throw new CliError('failed', `There is no result for the test ${name}.`);
    const { decision, rules, code } = result;
    const passed = decision === expect;
    return {
      policy: policy.metadata.name,
      test: name,
      at,
      expect,
      decision,
      rules,
      ...(code === undefined ? {} : { code }),
      passed,
    };
  });
}

function warningsOf(policy: PolicyInFile, verdict: JudgeVerdict): readonly string[] {
  const { name } = policy.policy.metadata;
  const { streaming, results } = verdict;
  const skipped = new Set(results.flatMap((result) => result.skipped));
  return [
    ...ruleWarnings(name, { verdict }).map((warning) => `warning: ${warning}`),
    ...silentRules(policy, { verdict }).map((warning) => `warning: ${warning}`),
    ...streaming
      .filter(({ allowed }) => !allowed)
      .map(({ rule }) => `warning: policy ${name}: answers cannot be streamed because of the rule ${rule ?? '?'}`),
    ...[...skipped].map((rule) => `warning: policy ${name}: the rule ${rule} was skipped, because it needs a provider`),
  ];
}

/** A line for a test; with several policies it names the policy. */
function describe(row: TestRow, namesPolicy: boolean): string {
  const test = namesPolicy ? `${row.policy}/${row.test}` : row.test;
  return row.passed
    ? `passed  ${test}: ${decisionOf(row)}`
    : `FAILED  ${test}: expected ${row.expect}, got ${decisionOf(row)}`;
}

/** A decision with the rules that made it. */
function decisionOf({ decision, rules, code }: TestRow, by = 'by'): string {
  const from = rules.length === 0 ? '' : ` ${by} ${rules.join(', ')}`;
  return `${decision}${code === undefined ? '' : ` (${code})`}${from}`;
}
