import { describeFailure } from '#kit/log/describe-failure';
import type { CommandPorts } from './execute-command.ts';
import { findWritten } from './find-written.ts';
import { failedWith, type OpenOperation, type Written } from './operation.ts';
import { sendWrite } from './send-write.ts';

/** A command that is older is not sent again (DESIGN section 9). */
export const sendAgainMs = 15 * 60_000;
const batch = 20;

/**
 * Carries on what other processes, or this one, began and did not end. Every replica does it; each command is leased to
 * one of them at a time, and doing it twice does no harm.
 * @returns how many commands were looked at
 */
export async function recoverOperations(ports: CommandPorts): Promise<number> {
  const claimed = await ports.store.claim(batch, ports.leaseMs);
  for (const operation of claimed) {
    try {
      await recover(ports, operation);
    } catch (error) {
      const { operationId } = operation;
      ports.logger.warn('recovery_failed', { operation: operationId, failure: describeFailure(error) });
    }
  }
  return claimed.length;
}

async function recover(ports: CommandPorts, operation: OpenOperation): Promise<void> {
  const written = operation.accepted ? operation.written : await settleWrite(ports, operation);
  if (written === undefined || operation.target.type !== 'policy') return;
  await ports.advance(operation, written);
}

/** Finds out whether the write of a command was made, or makes it. */
async function settleWrite(ports: CommandPorts, operation: OpenOperation): Promise<Written | undefined> {
  const { client, store, clock, logger } = ports;
  const { operationId, createdAt } = operation;
  const written = (await findWritten(client, operation)) ?? (await sendAgain());
  if (written === undefined) return undefined;
  logger.info('command_recovered', { operation: operationId });
  await store.accept(operationId, written);
  return written;

  async function sendAgain(): Promise<Written | undefined> {
    const isOld = clock.date().getTime() - createdAt.getTime() > sendAgainMs;
    const sent = isOld ? undefined : await sendWrite(client, operation);
    if (sent?.kind === 'written') return sent.written;
    if (sent?.kind !== 'denied') await store.finish(operationId, failedWith('not_executed'));
    return undefined;
  }
}
