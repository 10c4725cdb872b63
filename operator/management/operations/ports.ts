import type { OperationKind } from '#contracts/management';
import type { CommandWrite, OpenOperation, Operation, OperationEnd, Target, Written } from './operation.ts';

/** A command that is about to write. */
export type NewCommand = {
  readonly operationId: string;
  readonly kind: OperationKind;
  readonly target: Target;
  readonly traceId: string;
  readonly write: CommandWrite;
  /** Who gave the key. */
  readonly subject: string;
  readonly key: string;
  /** SHA-256 of method, path and canonical body. */
  readonly fingerprint: string;
};

export type KeyHolder = { readonly fingerprint: string; readonly operation: Operation };

/**
 * Idempotency keys and operations. Every method throws RecordsUnavailableError where the store does not answer; a write
 * may have happened then.
 */
export type OperationStore = {
  /** The command that holds a key of a subject; undefined where the key is free. */
  findKey(subject: string, key: string): Promise<KeyHolder | undefined>;
  /**
   * Stores a command that is pending, with its key, whole or not at all; undefined where somebody else holds the key.
   * For `leaseMs` nobody else is to carry it on.
   */
  begin(command: NewCommand, leaseMs: number): Promise<Operation | undefined>;
  /**
   * Notes that the write was made: the key is used up, the operation runs. Also where recovery had given up on it. An
   * operation that ended otherwise stays as it is. Undefined where the row is gone.
   */
  accept(operationId: string, written: Written): Promise<Operation | undefined>;
  /** Takes a command back that was not accepted, with its key; false where it was accepted or is gone. */
  withdraw(operationId: string): Promise<boolean>;
  /** Ends an operation; false where it had ended before. The key of one that was never accepted becomes free. */
  finish(operationId: string, end: OperationEnd): Promise<boolean>;
  get(operationId: string): Promise<Operation | undefined>;
  /** With what it writes; undefined where it has ended. */
  getOpen(operationId: string): Promise<OpenOperation | undefined>;
  /**
   * Open commands that nobody carries on, the oldest first, at most `limit`: those whose write is not known to be made,
   * and those on policies. Each is leased to the caller, and to no other one at the same time.
   */
  claim(limit: number, leaseMs: number): Promise<readonly OpenOperation[]>;
  /** Accepted operations on bindings that have not ended; of these models only, or of all, the oldest first. */
  openOnModels(modelIds: readonly string[] | 'all', limit: number): Promise<readonly OpenOperation[]>;
  /** Removes keys and ended operations that are older than they are kept. */
  prune(): Promise<void>;
};

/** The store of the operations does not answer. */
export class RecordsUnavailableError extends Error {
  override readonly name = 'RecordsUnavailableError';
  readonly code = 'records_unavailable';
}
