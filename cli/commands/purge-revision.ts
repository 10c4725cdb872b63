import type { Command } from 'commander';
import { type RevisionPurge, revisionPurgeSchema } from '#contracts/revision-purge';
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';
import {
  type ManagementCommandOptions,
  openManagement,
  withManagementOptions,
} from '../management/management-options.ts';
import { openResourceReader } from '../management/resource-reader.ts';
import { sendRequest } from '../management/send-request.ts';
import { type ConfirmOption, confirm, withConfirm } from '../options/confirm-option.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { readRevisions, withoutRevisionDefinition } from '../revisions/read-revisions.ts';
import { parseRevisionNumber } from '../revisions/revision-number.ts';

type PurgeOptions = ManagementCommandOptions & OutputOptions & ConfirmOption;

export function addPurgeRevision(program: Command): void {
  withConfirm(withUnnamedOutput(withManagementOptions(program.command('purge-revision'))))
    .description('remove the text of one revision permanently, over the management API; asks first')
    .argument('<policy>', 'name of the policy; it may be deleted')
    .argument('<revision>', 'the revision', parseRevisionNumber)
    .action(purgeRevision);
}

async function purgeRevision(policy: string, number: number, options: PurgeOptions): Promise<void> {
  const { connection } = openManagement(options);
  const reader = await openResourceReader(connection);
  const found = await readRevisions(reader, policy, withoutRevisionDefinition);
  const revision = found.find(({ spec }) => spec.number === number);
  if (revision === undefined) {
    const sentence = `The policy ${policy} has no revision ${number}. ${typedCommand(`history ${policy}`)} lists all.`;
    throw new CliError('not_found', sentence);
  }
  const { policyId, purgeTime } = revision.spec;
  const effect = `The text of revision ${number} of ${policy} is removed permanently: it cannot be read or applied again.`;
  await confirm(purgeTime === undefined ? [effect] : [], options);
  const call = { method: 'POST', path: `/api/v1/policy-purges/${policyId}/${number}` } as const;
  const { value } = await sendRequest(connection, call, revisionPurgeSchema);
  writeResult(formatOf(options), value, () => sentenceOf(policy, value));
}

function sentenceOf(policy: string, { revision, purgedAt, changed, sameDefinition }: RevisionPurge): string {
  const done = changed
    ? `The text of revision ${revision} of ${policy} was removed.`
    : `The text of revision ${revision} of ${policy} was removed before, at ${purgedAt}.`;
  if (sameDefinition.length === 0) return done;
  return `${done} The same definition is still in: ${sameDefinition.join(', ')}.`;
}
