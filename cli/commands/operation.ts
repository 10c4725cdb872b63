import { type Command, Option } from 'commander';
import { type OperationResource, operationKinds, operationStates } from '#contracts/management';
import type { ListedOperation } from '#contracts/operations';
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';
import type { ManagementClient } from '../management/client.ts';
import { ManagementApiError } from '../management/management-error.ts';
import {
  type ManagementCommandOptions,
  openManagement,
  withManagementOptions,
} from '../management/management-options.ts';
import { awaitFinalOperation, isFinalOperation, refuseFailed } from '../management/operation-end.ts';
import { operationTable } from '../management/operation-table.ts';
import { readOperations } from '../management/read-operations.ts';
import { filteredTarget, shownTargetNames } from '../management/target-names.ts';
import { operationText } from '../management/texts.ts';
import type { WaitOption } from '../options/wait-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import {
  formatOf,
  isForPeople,
  type OutputOptions,
  waitProgressOn,
  withOutput,
  withUnnamedOutput,
  writeResult,
} from '../output/format.ts';
import { writeNamed } from '../output/write-named.ts';

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

type GetOptions = ManagementCommandOptions & OutputOptions;
type ListOptions = GetOptions & {
  readonly kind?: string;
  readonly state?: string;
  readonly subject?: string;
  readonly target?: string;
  readonly limit: number;
};
type WaitOptions = GetOptions & { readonly timeout: number };

const defaultSeconds = 60;
const which = 'the id that a command has printed';

export function addOperation(program: Command): void {
  const operation = program
    .command('operation')
    .description('list the commands that the management API has accepted, and show their states');
  withOutput(withManagementOptions(operation.command('list')))
    .description('show the newest commands with their authors and outcomes')
    .addOption(new Option('--kind <kind>', 'only commands of this kind').choices([...operationKinds]))
    .addOption(new Option('--state <state>', 'only operations in this state').choices([...operationStates]))
    .option('--subject <subject>', 'only commands whose author has this subject')
    .option('--target <target>', 'only commands on this policy or model, by its name or id')
    .option('--limit <number>', 'maximum number of operations', wholeNumber(1, 10_000), 20)
    .action(list);
  withUnnamedOutput(withManagementOptions(operation.command('get')))
    .description('show the state of an operation')
    .argument('<operation-id>', which)
    .action(get);
  withUnnamedOutput(withManagementOptions(operation.command('wait')))
    .description('wait until an operation has ended; exit with an error if it failed')
    .argument('<operation-id>', which)
    .option('--timeout <seconds>', 'how long to wait', wholeNumber(1, 99_999, 'seconds'), defaultSeconds)
    .action(wait);
}

async function list(options: ListOptions): Promise<void> {
  const { kind, state, subject, target, limit } = options;
  const { connection } = openManagement(options);
  const { id: targetId, doubt = '' } = target === undefined ? {} : await filteredTarget(connection, target);
  if (doubt !== '') throw new CliError('not_found', doubt.trimStart());
  const items: ListedOperation[] = [];
  for await (const one of readOperations(connection, { kind, state, subject, targetId }, limit)) items.push(one);
  const nameOf = await shownTargetNames(
    connection,
    formatOf(options),
    items.map(({ target }) => target),
  );
  writeNamed(formatOf(options), {
    value: { items },
    names: items.map(({ operationId }) => operationId),
    text: (isWide) => (items.length === 0 ? 'There is no such operation.' : operationTable(items, nameOf, isWide)),
  });
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
    const sentence = `There is no operation ${id}, or it was removed after its retention: ${typedCommand('operation list')} shows the operations that are kept.`;
    throw new CliError('not_found', sentence, { cause });
  }
}

function checkId(word: string): string {
  if (isId(word)) return word;
  throw new CliError(
    'usage',
    `${JSON.stringify(word)} is not the id of an operation. Give a UUID that apply, rollback or another command printed with --via api; ${typedCommand('operation list')} shows them.`,
  );
}

/** Writes the operation of a command: its final state with --wait, else its accepted state. */
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
  // With --json, a failure prints only one object on standard error.
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
