import type { OperationResource } from '#contracts/management';
import type { WaitOption } from '../options/wait-option.ts';
import { formatOf, isForPeople, type OutputOptions, waitProgressOn, writeResult } from '../output/format.ts';
import type { ManagementClient } from './client.ts';
import { awaitFinalOperation, isFinalOperation, refuseFailed } from './operation-end.ts';
import { operationText } from './texts.ts';

/** Writes the operation of a command: the final one with --wait, else the accepted one. */
export async function finishOperation(
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
  writeResult(format, operation, () => operationText(operation));
  if (isForPeople(format) && !isFinalOperation(operation)) {
    process.stdout.write(`To wait for the result: portcullis operation wait ${operation.operationId}\n`);
  }
  refuseFailed(operation);
}
