import type { OperationKind } from '#contracts/management';
import type { QuotaErrorCode } from '../policies/quotas.ts';
import type { ApprovalDemand } from './approval-demand.ts';
import type { CommandOrigin } from './command-origin.ts';
import type {
  CommandRecord,
  CommandTarget,
  CommandWrite,
  OpenCommandRecord,
  OperationEnd,
  WrittenGeneration,
} from './command-record.ts';

/** A command before its write. */
export type NewCommand = {
  readonly operationId: string;
  readonly kind: OperationKind;
  readonly target: CommandTarget;
  readonly traceId: string;
  readonly write: CommandWrite;
  readonly origin: CommandOrigin;
  /** Issuer and subject of the caller that sent the idempotency key. */
  readonly subject: string;
  readonly key: string;
  /** SHA-256 of method, path and canonical body. */
  readonly fingerprint: string;
  /**
   * The content that a second person must approve if a policy or model requires it; undefined for a command that needs
   * no approval.
   */
  readonly approval: ApprovalDemand | undefined;
  /** The growth of the installation by a save; undefined for a command on a binding. */
  readonly saving:
    | { readonly bytes: number /** Whether a quota can refuse the command. */; readonly needsRoom: boolean }
    | undefined;
  /** Whether an administrator requests that the command takes effect even in a freeze window. */
  readonly overridesFreeze: boolean;
};

/** Names one lease of a command; each claim by recovery begins a new lease. */
export type CommandLease = string;

/** The result of storing a command. */
type Begun =
  | { readonly kind: 'begun'; readonly record: CommandRecord; readonly lease: CommandLease }
  /** Another request holds the key. */
  | { readonly kind: 'taken' }
  /** A freeze window of a policy or model is in force. The command was not stored. */
  | { readonly kind: 'frozen'; readonly until: Date }
  /** The save would exceed a quota. The command was not stored. */
  | { readonly kind: 'full'; readonly code: QuotaErrorCode }
  /** A policy or model requires an approval, and the caller has none for this content. The command was not stored. */
  | { readonly kind: 'unapproved' };

/** A claimed command with its age at the claim, by the clock that stored the command, in milliseconds. */
export type ClaimedCommand = OpenCommandRecord & { readonly ageMs: number };

type KeyHolder = { readonly fingerprint: string; readonly record: CommandRecord };

/**
 * Idempotency keys and operations. Every method throws RecordsUnavailableError when the store does not answer; a write
 * may have taken effect nevertheless.
 */
export type OperationStore = {
  /** The command that holds a key of a subject; undefined if the key is free. */
  findKey(subject: string, key: string): Promise<KeyHolder | undefined>;
  /**
   * Stores a pending command with its key atomically, leased to the caller for `leaseMs`, and uses the approval that
   * the command needs, unless a freeze window or a quota refuses the command.
   */
  begin(command: NewCommand, leaseMs: number): Promise<Begun>;
  /**
   * Records that the write succeeded: the key is used up and the operation runs, even if recovery ended it as
   * not_executed before. An operation with any other end is unchanged. Undefined if the row no longer exists. The audit
   * entry is added in the same transaction, only once, and another entry if the command overrides a freeze window.
   */
  accept(operationId: string, written: WrittenGeneration): Promise<CommandRecord | undefined>;
  /**
   * Deletes a command that was not accepted, together with its key, while it still has the lease that `begin` returned;
   * false if the command was accepted, no longer exists, or was claimed by recovery, which may be sending its write.
   */
  withdraw(operationId: string, lease: CommandLease): Promise<boolean>;
  /**
   * Ends an operation, and adds the entry of the audit log with it; false if it had ended before. The key of a command
   * that was not accepted becomes free.
   */
  finish(operationId: string, end: OperationEnd): Promise<boolean>;
  get(operationId: string): Promise<CommandRecord | undefined>;
  /** The operation with its write; undefined if the operation has ended. */
  getOpen(operationId: string): Promise<OpenCommandRecord | undefined>;
  /**
   * Open commands whose lease has expired, the oldest first, at most `limit`: those whose write is not known to have
   * succeeded, and those on policies. Each command is leased to one caller at a time.
   */
  claim(limit: number, leaseMs: number): Promise<readonly ClaimedCommand[]>;
  /** Accepted operations on bindings that have not ended, of these models or of all, the oldest first. */
  openOnModels(modelIds: readonly string[] | 'all', limit: number): Promise<readonly OpenCommandRecord[]>;
  /** Commands that a process is executing: neither accepted nor ended, and leased. */
  undecided(): Promise<readonly string[]>;
  /** Deletes keys and ended operations whose retention period is over. */
  prune(): Promise<void>;
};

/** The store of the operations does not answer. */
export class RecordsUnavailableError extends Error {
  override readonly name = 'RecordsUnavailableError';
  readonly code = 'records_unavailable';
}
