import { describeFailure } from '#kit/log/describe-failure';
import { rightOfAuthor, rightOfCommand } from '../access/required-right.ts';
import { failedWith, type OpenCommandRecord, type WrittenGeneration } from './command-record.ts';
import type { CommandPorts } from './execute-command.ts';
import { findWritten } from './find-written.ts';
import type { ClaimedCommand } from './ports.ts';
import { sendWrite } from './send-write.ts';

/** Age after which the write of a command is not sent again, milliseconds. */
const sendAgainMs = 15 * 60_000;
/**
 * Maximum age of a write that removes the guardrail of a model, milliseconds: after that its administrator may have
 * acted differently.
 */
const unbindAgainMs = 60_000;
const batch = 20;

/**
 * Continues commands that a process started and did not finish. Every replica does this; a lease gives each command to
 * one replica at a time, and repeating a command has no further effect.
 * @param between called before each command @returns the number of commands that were claimed
 */
export async function recoverOperations(ports: CommandPorts, between: () => Promise<void>): Promise<number> {
  const claimedAt = ports.clock.now();
  const claimed = await ports.store.claim(batch, ports.leaseMs);
  for (const operation of claimed) {
    await between();
    try {
      await recover(ports, operation, claimedAt);
    } catch (error) {
      ports.logger.warn('recovery_failed', { ...placeOf(operation), failure: describeFailure(error) });
    }
  }
  return claimed.length;
}

function placeOf({ operationId, traceId }: OpenCommandRecord) {
  return { operation: operationId, traceId };
}

async function recover(ports: CommandPorts, operation: ClaimedCommand, claimedAt: number): Promise<void> {
  const written = operation.accepted ? operation.written : await settleWrite(ports, operation, claimedAt);
  if (written === undefined || operation.target.type !== 'policy') return;
  await ports.advance(operation, written);
}

/** Finds the generation that the write of a command created, or sends the write again. */
async function settleWrite(
  ports: CommandPorts,
  operation: ClaimedCommand,
  claimedAt: number,
): Promise<WrittenGeneration | undefined> {
  const { client, store, rights, freezes, clock, logger, leaseMs, requestTimeoutMs } = ports;
  const { operationId, ageMs } = operation;
  const written = (await findWritten(client, operation)) ?? (await sendAgain());
  if (written === undefined) return undefined;
  logger.info('command_recovered', placeOf(operation));
  await store.accept(operationId, written);
  if (operation.overridesFreeze) logger.error('freeze_overridden', placeOf(operation));
  return written;

  async function sendAgain(): Promise<WrittenGeneration | undefined> {
    const limitMs = operation.kind === 'binding.unbind' ? unbindAgainMs : sendAgainMs;
    // The age is measured by the clock of the database and the monotonic clock, because the time of day of this process
    // may differ.
    const isTooOld = (): boolean => ageMs + clock.now() - claimedAt > limitMs;
    const isOld = isTooOld();
    if (!isOld && !(await rights.has(operation.origin, rightOfAuthor(operation)))) {
      logger.warn('recovery_without_right', placeOf(operation));
      await store.finish(operationId, failedWith('not_executed', 'Its author has lost the right.'));
      return undefined;
    }
    if (!isOld && !(await isStillApproved(ports, operation))) {
      logger.warn('recovery_without_approval', placeOf(operation));
      await store.finish(operationId, failedWith('not_executed', 'It has no valid approval.'));
      return undefined;
    }
    if (!isOld && (await freezes.frozenUntil(operationId)) !== undefined) {
      logger.warn('recovery_in_freeze', placeOf(operation));
      await store.finish(operationId, failedWith('not_executed', 'A freeze window is in force.'));
      return undefined;
    }
    // The checks above take time, too: if the write has become too old meanwhile, the next claim ends it.
    const isLeased = (): boolean => clock.now() + requestTimeoutMs < claimedAt + leaseMs && !isTooOld();
    const sent = isOld ? undefined : await sendWrite({ client, isLeased }, operation);
    if (sent?.kind === 'written') return sent.written;
    // The next claim continues: the checks above may be older than a revocation that no longer waits for this command.
    if (sent?.kind === 'late') return undefined;
    if (sent?.kind === 'denied') logger.warn('write_denied', { ...placeOf(operation), code: sent.code });
    if (sent?.kind !== 'denied') await store.finish(operationId, failedWith('not_executed'));
    return undefined;
  }
}

/**
 * Whether the approval that the command used has not expired and the approver still has the right. A command without an
 * approval was stored before a policy or model required one, or needs no approval.
 */
async function isStillApproved({ approvals, rights }: CommandPorts, operation: OpenCommandRecord): Promise<boolean> {
  const { operationId } = operation;
  const approver = await approvals.approverOf(operationId);
  if (approver === undefined) return !(await approvals.isLacking(operationId));
  return approver.isValid && (await rights.has(approver, rightOfCommand(operation)));
}
