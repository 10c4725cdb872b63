import type { Command } from 'commander';
import type { OperationResource } from '#contracts/management';
import { CliError } from '../errors/cli-error.ts';
import type { ManagementClient } from '../management/client.ts';
import { ManagementApiError } from '../management/management-error.ts';
import {
  type ManagementCommandOptions,
  openManagement,
  withManagementOptions,
} from '../management/management-options.ts';
import { awaitFinalOperation, isFinalOperation, refuseFailed } from '../management/operation-end.ts';
import { operationText } from '../management/texts.ts';
import type { WaitOption } from '../options/wait-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import {
  formatOf,
  isForPeople,
  type OutputOptions,
  waitProgressOn,
  withOutput,
  writeResult,
} from '../output/format.ts';

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

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
  writeResult(formatOf(options), operation, (isWide) => operationText(operation, isWide));
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

/** Writes the operation of a command: the final one with --wait, else the accepted one. */
async function finishOperation(
  client: ManagementClient,
  accepted: OperationResource,
  options: OutputOptions & WaitOption,
): Promise<void> {
  const { wait } = options;
  const format = formatOf(options);
  const onState = waitProgressOn(process.stderr, format);
  const operation =
    wait === undefined ? accepted : await awaitFinalOperation(client, accepted.operationId, wait, onState);
  // With --json, a failure prints one object on standard error and nothing else.
  if (!isForPeople(format)) refuseFailed(operation);
  writeResult(format, operation, (isWide) => operationText(operation, isWide));
  if (isForPeople(format) && !isFinalOperation(operation)) {
    process.stdout.write(`To wait for the result: portcullis operation wait ${operation.operationId}\n`);
  }
  refuseFailed(operation);
}

/** Whether a word can be an id of the management API: a UUID of version 7. */
function isId(word: string): boolean {
  return form.test(word);
}
