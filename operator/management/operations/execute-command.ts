import { setTimeout as pause } from 'node:timers/promises';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import { KubeError } from '#kube/client/kube-error';
import type { AdvancePolicy } from './advance-policy.ts';
import type { OpenOperation, Operation, Written } from './operation.ts';
import { type NewCommand, type OperationStore, RecordsUnavailableError } from './ports.ts';
import { type Sent, sendWrite } from './send-write.ts';

/** What became of a command. */
export type Executed =
  | { readonly kind: 'accepted'; readonly operation: Operation }
  /** Another request holds the key: its command is the one that counts. */
  | { readonly kind: 'taken' }
  /** Nothing was written, and the key is free again. */
  | { readonly kind: 'refused'; readonly why: 'changed' | 'gone' | 'invalid' | 'denied' }
  /** Nobody knows yet: recovery finds out, and a repetition with the same key learns of it. */
  | { readonly kind: 'unknown' };

export type CommandPorts = {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'create' | 'patch'>;
  readonly store: OperationStore;
  readonly advance: AdvancePolicy;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long nobody else carries a command on that this process has begun, milliseconds. */
  readonly leaseMs: number;
};

/** How long a command is tried again and again while the server or the database does not answer, milliseconds. */
const patienceMs = 6_000;
const againMs = 200;

/** Stores a command, makes its write and notes that it was made (DESIGN section 9). */
export async function executeCommand(ports: CommandPorts, command: NewCommand): Promise<Executed> {
  const { store, clock, leaseMs } = ports;
  const giveUpAt = clock.now() + patienceMs;
  const begun = await store.begin(command, leaseMs);
  if (begun === undefined) return { kind: 'taken' };
  const sent = await sendPatiently(ports, command, giveUpAt);
  if (sent === undefined) return { kind: 'unknown' };
  if (sent.kind !== 'written') {
    const why = sent.kind === 'denied' ? 'denied' : sent.why;
    if (await store.withdraw(command.operationId)) return { kind: 'refused', why };
    // Recovery knew better, or took the row away.
    const found = await store.get(command.operationId);
    return found?.accepted === true ? { kind: 'accepted', operation: found } : { kind: 'refused', why };
  }
  const operation = await acceptPatiently(ports, command.operationId, sent.written, giveUpAt);
  if (operation === undefined) return { kind: 'unknown' };
  await finishAtOnce(ports, { ...operation, write: command.write }, sent.written);
  return { kind: 'accepted', operation };
}

/** @returns undefined where nobody knows whether it was written */
async function sendPatiently(ports: CommandPorts, command: NewCommand, giveUpAt: number): Promise<Sent | undefined> {
  const { client, clock, logger } = ports;
  for (;;) {
    try {
      return await sendWrite(client, command);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      logger.warn('write_unanswered', { operation: command.operationId, code: error.code });
      if (clock.now() >= giveUpAt) return undefined;
      await pause(Math.min(error.details.retryAfterMs ?? againMs, giveUpAt - clock.now() + 1));
    }
  }
}

/**
 * What was written is noted as soon as the database answers again: nobody else may do so for the time of the lease.
 * @throws RecordsUnavailableError
 */
async function acceptPatiently(
  { store, clock, logger }: CommandPorts,
  operationId: string,
  written: Written,
  giveUpAt: number,
): Promise<Operation | undefined> {
  for (;;) {
    try {
      return await store.accept(operationId, written);
    } catch (error) {
      if (!(error instanceof RecordsUnavailableError) || clock.now() >= giveUpAt) throw error;
      logger.warn('acceptance_not_noted', { operation: operationId });
      await pause(againMs);
    }
  }
}

/** What a policy became is recorded before the answer, so that its reader finds it; if that fails, recovery does it. */
async function finishAtOnce(ports: CommandPorts, operation: OpenOperation, written: Written): Promise<void> {
  if (operation.target.type !== 'policy') return;
  try {
    await ports.advance(operation, written, written);
  } catch (error) {
    ports.logger.warn('recording_left_to_recovery', {
      operation: operation.operationId,
      failure: describeFailure(error),
    });
  }
}
