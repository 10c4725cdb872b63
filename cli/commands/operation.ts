import type { Command } from 'commander';
import type { OperationResource } from '#contracts/management';
import { CliError } from '../errors/cli-error.ts';
import type { ManagementClient } from '../management/client.ts';
import { finishOperation } from '../management/finish-operation.ts';
import { ManagementApiError } from '../management/management-error.ts';
import {
  type ManagementCommandOptions,
  openManagement,
  withManagementOptions,
} from '../management/management-options.ts';
import { isId } from '../management/operation-id.ts';
import { operationText } from '../management/texts.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';

type GetOptions = ManagementCommandOptions & OutputOptions;
type WaitOptions = GetOptions & { readonly timeout: number };

const defaultSeconds = 60;
const which = 'the id that a command has printed';

export function addOperation(program: Command): void {
  const operation = program
    .command('operation')
    .description('show the state of commands that the management API has accepted');
  withOutput(withManagementOptions(operation.command('get')))
    .description('show the state of an operation')
    .argument('<operation-id>', which)
    .action(get);
  withOutput(withManagementOptions(operation.command('wait')))
    .description('wait until an operation has ended; exit with an error if it failed')
    .argument('<operation-id>', which)
    .option('--timeout <seconds>', 'how long to wait', wholeNumber(1, 99_999, 'seconds'), defaultSeconds)
    .action(wait);
}

async function get(operationId: string, options: GetOptions): Promise<void> {
  const id = checkId(operationId);
  const operation = await findOperation(openManagement(options).client, id);
  writeResult(formatOf(options), operation, () => operationText(operation));
}

async function wait(operationId: string, options: WaitOptions): Promise<void> {
  const id = checkId(operationId);
  const { client } = openManagement(options);
  const operation = await findOperation(client, id);
  await finishOperation(client, operation, { ...options, wait: options.timeout });
}

async function findOperation(client: ManagementClient, id: string): Promise<OperationResource> {
  try {
    return await client.getOperation(id);
  } catch (cause) {
    if (!(cause instanceof ManagementApiError) || cause.status !== 404) throw cause;
    const sentence = `There is no operation ${id}, or it ended longer ago than operations are kept: check the id.`;
    throw new CliError('not_found', sentence, { cause });
  }
}

function checkId(word: string): string {
  if (isId(word)) return word;
  throw new CliError(
    'usage',
    `${JSON.stringify(word)} is not the id of an operation: it is a UUID that apply, rollback and other commands print with --via api.`,
  );
}
