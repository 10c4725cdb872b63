import { type Command, Option } from 'commander';
import type { JudgeVerdict } from '#contracts/judge';
import { CliError } from '../errors/cli-error.ts';
import { readLimits, readProviders } from '../manifests/read-environment-files.ts';
import { type PolicyFileOptions, withPolicyFile, withPolicyFileOptions } from '../options/policy-file-options.ts';
import { readInput } from '../options/read-input.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { judgePolicy } from '../policy/judge-policy.ts';
import { readPolicy } from '../policy/read-policy.ts';

type CheckOptions = PolicyFileOptions &
  OutputOptions & {
    readonly policy: string;
    readonly stage: 'request' | 'response';
    readonly role: string;
  };
type Result = JudgeVerdict['results'][number];

export function addCheck(program: Command): void {
  const command = program
    .command('check')
    .description('check one text with the local rules of a policy file, without a server')
    .argument('[text]', 'the text (default: standard input)')
    .addOption(
      new Option('--stage <stage>', 'section of the policy').choices(['request', 'response']).default('request'),
    )
    .option('--role <role>', 'role of the message', 'user');
  withUnnamedOutput(withPolicyFileOptions(withPolicyFile(command))).action(check);
}

async function check(given: string | undefined, options: CheckOptions): Promise<void> {
  if (given === undefined && options.policy === '-') {
    throw new CliError('usage', 'Standard input can be read only once: give the text as an argument.');
  }
  const policy = await readPolicy(options.policy);
  const content = given ?? (await readInput('the text'));
  const { verdict } = await judgePolicy(policy, {
    contentProfile: options.profile,
    limits: readLimits(options.limits),
    approved: readProviders(options.providers),
    approvedIn: options.providers,
    checks: [{ name: 'text', stage: options.stage, messages: [{ role: options.role, content }] }],
  });
  const [result] = verdict.results;
  if (result === undefined) throw new CliError('failed', 'The check has no result.');
  writeResult(formatOf(options), result, () => describe(result));
  if (result.decision === 'Reject')
    throw new CliError('guardrail_blocked', `The policy denies the text (${named(result)}).`);
  if (result.decision === 'Failed') throw new CliError('guardrail_error', `The check failed (${result.code}).`);
}

function describe(result: Result): string {
  const skipped = result.skipped.map((rule) => `Skipped, because it needs a provider: ${rule}`);
  const masked = result.contents === undefined ? [] : [result.contents.join('\n')];
  const by = result.rules.length === 0 ? '' : ` (${named(result)})`;
  return [`${result.decision}${by}`, ...masked, ...skipped].join('\n');
}

function named({ rules }: Result): string {
  return `${rules.length === 1 ? 'rule' : 'rules'} ${rules.join(', ')}`;
}
