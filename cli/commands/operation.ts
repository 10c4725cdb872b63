import { type Command, InvalidArgumentError } from 'commander';
import { finishOperation } from '../management/finish-operation.ts';
import { type ManagementOptions, openManagement, withManagementOptions } from '../management/management-options.ts';
import { operationText } from '../management/texts.ts';
import { formatOf, type OutputOptions, withOutput, writeResult } from '../output/format.ts';

type GetOptions = ManagementOptions & OutputOptions;
type WaitOptions = GetOptions & { readonly timeout: number };

const defaultSeconds = 60;
const which = 'id that a command answered with';

export function addOperation(program: Command): void {
  const operation = program.command('operation').description('commands of the management API and how far they got');
  withOutput(withManagementOptions(operation.command('get')))
    .description('show an operation as it is now')
    .argument('<operation-id>', which)
    .action(get);
  withOutput(withManagementOptions(operation.command('wait')))
    .description('wait until an operation has ended; exit with an error where it failed')
    .argument('<operation-id>', which)
    .option('--timeout <seconds>', 'how long to wait', readSeconds, defaultSeconds)
    .action(wait);
}

async function get(operationId: string, options: GetOptions): Promise<void> {
  const operation = await openManagement(options).client.getOperation(operationId);
  writeResult(formatOf(options), operation, () => operationText(operation));
}

async function wait(operationId: string, options: WaitOptions): Promise<void> {
  const { client } = openManagement(options);
  const operation = await client.getOperation(operationId);
  await finishOperation(client, operation, { ...options, wait: options.timeout });
}

function readSeconds(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (seconds < 1) throw new InvalidArgumentError('It must be a whole number of seconds from 1 to 99999.');
  return seconds;
}
