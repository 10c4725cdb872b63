import { setTimeout as pause } from 'node:timers/promises';
import type { OperationResource } from '#contracts/management';
import type { OperationFailureCode } from '#contracts/management-errors';
import { CliError } from '../errors/cli-error.ts';
import type { ExitName } from '../errors/exit-codes.ts';
import type { ManagementClient } from './client.ts';

const shortestPauseMs = 50;
const longestPauseMs = 1_000;

/** Whether an operation has ended. */
export function isFinalOperation({ state }: OperationResource): boolean {
  return state === 'succeeded' || state === 'failed';
}

/**
 * Waits until an operation is final.
 * @param onState called with a sentence for each state that the operation passes through
 * @throws CliError timeout
 */
export async function awaitFinalOperation(
  client: Pick<ManagementClient, 'getOperation'>,
  operationId: string,
  seconds: number,
  onState: (sentence: string) => void = () => undefined,
): Promise<OperationResource> {
  let said: string | undefined;
  const end = performance.now() + seconds * 1_000;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    const operation = await client.getOperation(operationId);
    if (isFinalOperation(operation)) return operation;
    if (operation.state !== said) onState(`The operation ${operationId} is ${operation.state}.`);
    said = operation.state;
    if (performance.now() > end) {
      const sentence = `The operation ${operationId} is ${operation.state} after ${seconds} s. It continues in the background.`;
      throw new CliError('timeout', sentence);
    }
    await pause(pauseMs);
  }
}

/** Exit codes of failed operations; all other failures are refusals. */
const exits: Readonly<Partial<Record<OperationFailureCode, ExitName>>> = {
  superseded: 'conflict',
  revision_lost: 'conflict',
  lost_in_restore: 'conflict',
  not_executed: 'failed',
  progress_deadline_exceeded: 'timeout',
  policy_revision_unknown: 'not_found',
};

/** @throws CliError for a failed operation, with its code */
export function refuseFailed({ operationId, error }: OperationResource): void {
  if (error === null) return;
  const { code, message, cause } = error;
  throw new CliError(exits[code] ?? 'refused', `The operation ${operationId} failed (${code}): ${cause ?? message}`);
}
