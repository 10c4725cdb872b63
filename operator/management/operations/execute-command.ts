import { setTimeout as pause } from 'node:timers/promises';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import { KubeError } from '#kube/client/kube-error';
import { rightOfAuthor, rightOfCommand } from '../access/required-right.ts';
import type { Rights } from '../access/rights.ts';
import type { QuotaErrorCode } from '../policies/quotas.ts';
import type { AdvancePolicy } from './advance-policy.ts';
import type { ApprovalStore } from './approval-ports.ts';
import type { CommandRecord, OpenCommandRecord, WrittenGeneration } from './command-record.ts';
import type { FreezeStore } from './freeze-ports.ts';
import { type CommandLease, type NewCommand, type OperationStore, RecordsUnavailableError } from './ports.ts';
import { sendWrite, type WriteResult } from './send-write.ts';

/** The result of one attempt to execute a command. */
type ExecutionResult =
  | { readonly kind: 'accepted'; readonly record: CommandRecord }
  /** Another request holds the idempotency key. */
  | { readonly kind: 'taken' }
  /** The command wrote nothing, and its idempotency key is free again. */
  | { readonly kind: 'refused'; readonly why: 'changed' | 'gone' | 'invalid' | 'denied' | 'no_right' }
  /** The command wrote nothing: it waits for the approval with this id. */
  | { readonly kind: 'unapproved'; readonly approvalId: string }
  /** The command wrote nothing: a freeze window of a policy or model is in force. */
  | { readonly kind: 'frozen'; readonly until: Date }
  /** The command wrote nothing: it would exceed a quota. */
  | { readonly kind: 'full'; readonly code: QuotaErrorCode }
  /**
   * The write may or may not have succeeded. Recovery determines which; a repetition with the same key gets the result.
   */
  | { readonly kind: 'unknown' };

export type CommandPorts = {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'create' | 'patch'>;
  readonly store: OperationStore;
  readonly advance: AdvancePolicy;
  readonly rights: Rights;
  readonly approvals: Pick<ApprovalStore, 'request' | 'approverOf' | 'isLacking'>;
  readonly freezes: Pick<FreezeStore, 'frozenUntil'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a new command is leased to this process, in milliseconds. */
  readonly leaseMs: number;
  /** The timeout of one request of the client, in milliseconds. */
  readonly requestTimeoutMs: number;
};

/** How long a command is retried while the resource server or the database does not answer, milliseconds. */
const retryForMs = 6_000;
const retryDelayMs = 200;

/** Stores a command, sends its write and records that the write succeeded. Described in docs/design/commands.md. */
export async function executeCommand(ports: CommandPorts, command: NewCommand): Promise<ExecutionResult> {
  const { store, clock, leaseMs } = ports;
  const began = clock.now();
  const retryUntil = began + retryForMs;
  const begun = await store.begin(command, leaseMs);
  if (begun.kind === 'taken') return { kind: 'taken' };
  if (begun.kind === 'frozen' || begun.kind === 'full') return begun;
  if (begun.kind === 'unapproved') return requestApproval(ports, command);
  // This check is made after the row is stored: a revocation waits for the rows that it finds (docs/design/commands.md,
  // Rights).
  const stopped = await findStop(ports, command, begun.lease);
  if (stopped !== undefined) {
    const left = await withdraw(store, command, begun.lease);
    if (left !== 'withdrawn') return left;
    return stopped.kind === 'unapproved' ? requestApproval(ports, command) : stopped;
  }
  const sent = await sendWithRetries(ports, command, { retryUntil, leasedUntil: began + leaseMs });
  if (sent === undefined) return { kind: 'unknown' };
  if (sent.kind === 'denied') {
    const { operationId, traceId } = command;
    ports.logger.warn('write_denied', { operation: operationId, traceId, code: sent.code });
  }
  if (sent.kind !== 'written') {
    const left = await withdraw(store, command, begun.lease);
    return left === 'withdrawn' ? { kind: 'refused', why: sent.kind === 'denied' ? 'denied' : sent.why } : left;
  }
  const record = await acceptWithRetries(ports, command, sent.written, retryUntil);
  if (record === undefined) return { kind: 'unknown' };
  if (record.overridesFreeze)
    ports.logger.error('freeze_overridden', { operation: record.operationId, traceId: record.traceId });
  await recordRevisionNow(ports, { ...record, write: command.write }, sent.written);
  return { kind: 'accepted', record };
}

/**
 * Withdraws a command that this process did not send, or that wrote nothing. Recovery may have claimed the command
 * meanwhile: then it found the write, has ended the command, or is about to send the write.
 */
async function withdraw(
  store: OperationStore,
  { operationId }: NewCommand,
  lease: CommandLease,
): Promise<'withdrawn' | (ExecutionResult & { readonly kind: 'accepted' | 'unknown' })> {
  if (await store.withdraw(operationId, lease)) return 'withdrawn';
  const found = await store.get(operationId);
  if (found?.accepted === true) return { kind: 'accepted', record: found };
  return found === undefined || found.state === 'failed' ? 'withdrawn' : { kind: 'unknown' };
}

async function requestApproval(
  { approvals }: CommandPorts,
  { approval, target, origin, subject }: NewCommand,
): Promise<ExecutionResult> {
  if (approval === undefined) throw new TypeError('an approval was requested for a command that needs none');
  const { kind, digest } = approval;
  const { author, after } = origin;
  const approvalId = await approvals.request({ kind, target, digest, after, requester: subject, author });
  return { kind: 'unapproved', approvalId };
}

type Stop = (ExecutionResult & { readonly kind: 'refused' | 'frozen' }) | { readonly kind: 'unapproved' };

/**
 * The reason why a stored command must not be sent.
 * @throws RelationsUnavailableError after the command was withdrawn, RecordsUnavailableError if recovery decides about it
 */
async function findStop(ports: CommandPorts, command: NewCommand, lease: CommandLease): Promise<Stop | undefined> {
  const { rights, approvals, freezes, store } = ports;
  const { operationId, origin } = command;
  try {
    if (!(await rights.has(origin, rightOfAuthor(command)))) return { kind: 'refused', why: 'no_right' };
    if (command.approval === undefined) return undefined;
    const until = await freezes.frozenUntil(operationId);
    if (until !== undefined) return { kind: 'frozen', until };
    const approver = await approvals.approverOf(operationId);
    const isApproved =
      approver === undefined
        ? !(await approvals.isLacking(operationId))
        : await rights.has(approver, rightOfCommand(command));
    return isApproved ? undefined : { kind: 'unapproved' };
  } catch (error) {
    if (await store.withdraw(operationId, lease)) throw error;
    // Recovery has claimed the command, so that the answer that nothing was changed could be wrong.
    throw new RecordsUnavailableError('recovery decides about the command', { cause: error });
  }
}

/**
 * @param leasedUntil after this time the process sends no request: recovery may have ended the command, and a
 * revocation no longer waits for it @returns undefined when the answer to the write was lost, so that its result is
 * unknown
 */
async function sendWithRetries(
  ports: CommandPorts,
  command: NewCommand,
  { retryUntil, leasedUntil }: { readonly retryUntil: number; readonly leasedUntil: number },
): Promise<Exclude<WriteResult, { readonly kind: 'late' }> | undefined> {
  const { client, clock, logger, requestTimeoutMs } = ports;
  const isLeased = (): boolean => clock.now() + requestTimeoutMs < leasedUntil;
  let isUnanswered = false;
  while (isLeased()) {
    try {
      const sent = await sendWrite({ client, isLeased }, command);
      // A denial does not show the outcome of the previous attempt, which may have succeeded.
      if (sent.kind === 'late' || (sent.kind === 'denied' && isUnanswered)) break;
      return sent;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      isUnanswered = true;
      logger.warn('write_unanswered', { operation: command.operationId, traceId: command.traceId, code: error.code });
      if (clock.now() >= retryUntil) return undefined;
      await pause(Math.min(error.details.retryAfterMs ?? retryDelayMs, retryUntil - clock.now() + 1));
    }
  }
  logger.warn('left_to_recovery', { operation: command.operationId, traceId: command.traceId });
  return undefined;
}

/**
 * Records that the write succeeded as soon as the database answers: the lease keeps other replicas from doing so.
 * @throws RecordsUnavailableError
 */
async function acceptWithRetries(
  { store, clock, logger }: CommandPorts,
  { operationId, traceId }: NewCommand,
  written: WrittenGeneration,
  retryUntil: number,
): Promise<CommandRecord | undefined> {
  for (;;) {
    try {
      return await store.accept(operationId, written);
    } catch (error) {
      if (!(error instanceof RecordsUnavailableError) || clock.now() >= retryUntil) throw error;
      logger.warn('acceptance_not_noted', { operation: operationId, traceId });
      await pause(retryDelayMs);
    }
  }
}

/** Records the revision before the answer, so that the client can read it immediately. On a failure recovery does it. */
async function recordRevisionNow(
  ports: CommandPorts,
  operation: OpenCommandRecord,
  written: WrittenGeneration,
): Promise<void> {
  if (operation.target.type !== 'policy') return;
  try {
    await ports.advance(operation, written, written);
  } catch (error) {
    ports.logger.warn('recording_left_to_recovery', {
      operation: operation.operationId,
      traceId: operation.traceId,
      failure: describeFailure(error),
    });
  }
}
