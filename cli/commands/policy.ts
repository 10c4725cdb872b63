import type { Command } from 'commander';
import { addPolicyChanges } from '../management/commands/policy-changes.ts';
import { addPolicyReads } from '../management/commands/policy-reads.ts';
import { addPolicyTest } from './policy-test.ts';

export function addPolicy(program: Command): void {
  const policy = program
    .command('policy')
    .description('manage policies through the management API, or test policy files without a server');
  addPolicyReads(policy);
  addPolicyChanges(policy);
  addPolicyTest(policy);
}
