import type { Command } from 'commander';
import { readLimits, readProviders } from '../manifests/read-environment-files.ts';
import { type PolicyFileOptions, withPolicyFileOptions } from '../options/policy-file-options.ts';
import { withJson } from '../output/format.ts';
import { readPolicies } from '../policy/read-policy.ts';
import { testPolicies } from '../policy/test-policies.ts';

type TestOptions = PolicyFileOptions & { readonly json?: boolean };

export function addPolicyTest(policy: Command): void {
  const command = policy
    .command('test')
    .description('validate the policies of a file and run their tests, without a server')
    .argument('<file>', 'file with GuardrailPolicies');
  withJson(withPolicyFileOptions(command)).action(test);
}

async function test(file: string, options: TestOptions): Promise<void> {
  const environment = { approved: readProviders(options.providers), limits: readLimits(options.limits) };
  await testPolicies(readPolicies(file), environment, { ...options, what: file });
}
