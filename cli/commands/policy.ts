import type { Command } from 'commander';
import { addPolicyChanges } from '../management/commands/policy-changes.ts';
import { addPolicyReads } from '../management/commands/policy-reads.ts';
import { readLimits, readProviders } from '../manifests/read-environment-files.ts';
import { type PolicyFileOptions, withPolicyFileOptions } from '../options/policy-file-options.ts';
import { withJson } from '../output/format.ts';
import { readPolicies } from '../policy/read-policy.ts';
import { testPolicies } from '../policy/test-policies.ts';

export function addPolicy(program: Command): void {
  const policy = program
    .command('policy')
    .description('manage policies through the management API, or test policy files without a server');
  addPolicyReads(policy);
  addPolicyChanges(policy);
  addPolicyTest(policy);
}

type TestOptions = PolicyFileOptions & { readonly json?: boolean };

function addPolicyTest(policy: Command): void {
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
