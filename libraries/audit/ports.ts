import type { AuditAction, AuditChain, AuditContent, AuditEntry, AuditOutcome } from '#contracts/audit';
import type { TransactionSql } from '#sql/connect';

export type AuditFilter = {
  readonly action?: AuditAction | undefined;
  readonly outcome?: AuditOutcome | undefined;
  /** The claim `sub` of the author. */
  readonly subject?: string | undefined;
  readonly targetId?: string | undefined;
  readonly operationId?: string | undefined;
  readonly chain?: string | undefined;
  /** Entries at or after this time, and before `until`: ISO 8601 in UTC with milliseconds. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
};

type AuditPage = { readonly entries: readonly AuditEntry[]; readonly next: string | null };

/** Which entries of a page, and from where. */
type AuditQuery = {
  readonly filter: AuditFilter;
  readonly order: 'newest' | 'oldest';
  readonly limit: number;
  /** `next` of the previous page. */
  readonly after?: string | undefined;
};

/**
 * The audit log of one service: a chain of entries that are never changed (docs/design/audit.md). Every method throws
 * SqlUnavailableError or SqlStatementError when the database does not execute a statement.
 */
export type AuditLog = {
  /**
   * Adds entries in order, in the transaction of the caller, as its last statement: the head of the chain stays locked
   * until the transaction ends.
   */
  append(sql: TransactionSql, contents: readonly AuditContent[]): Promise<void>;
  /** Adds entries in a separate transaction. */
  write(contents: readonly AuditContent[]): Promise<void>;
  /**
   * Adds an entry unless an entry with this source exists. `source` names the observed change. @returns whether the
   * entry was added
   */
  writeOnce(source: string, content: AuditContent): Promise<boolean>;
  /** Records sources that need no entry, as if they had one; at most 500. */
  addSources(sources: readonly string[]): Promise<void>;
  /**
   * Removes the oldest sources that begin with `prefix` and were added more than `days` days ago, except the given
   * ones; at most 10,000, and none after the signal is aborted. The changes of removed sources can no longer be
   * observed. @returns the number of removed sources
   */
  forgetSources(
    prefix: string,
    kept: { readonly days: number; readonly except: readonly string[] },
    signal: AbortSignal,
  ): Promise<number>;
  /**
   * The sources that begin with `prefix` and have no closing source, which consists of `closing` and the text after the
   * prefix.
   */
  openSources(prefix: string, closing: string): Promise<readonly string[]>;
  /** The given sources, at most 500, that have no entry and had none before retention. */
  unknownSources(sources: readonly string[]): Promise<readonly string[]>;
  /**
   * Entries of every chain. Reading all pages in one order returns each entry that existed at the start exactly once.
   */
  read(query: AuditQuery): Promise<AuditPage>;
  chains(): Promise<readonly AuditChain[]>;
  /**
   * Removes the entries of this chain that are older than a time, except the newest entry, and records the removal as
   * the newest entry.
   * @returns the number of removed entries
   */
  retain(before: Date, now: Date): Promise<number>;
};

/** Names of receivers of an export, which are stored and are label values. */
export const auditReceiverNames = ['webhook', 'otlp'] as const;
export type AuditReceiverName = (typeof auditReceiverNames)[number];

/** `stored`: the receiver has every entry. A reason holds no address, secret or text of the receiver. */
export type AuditDelivery =
  | { readonly kind: 'stored' }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number };

/** A store outside of the installation that gets entries of the audit log. */
export type AuditReceiver = {
  readonly name: AuditReceiverName;
  /**
   * Sends consecutive entries of one chain, at least one. The promise never rejects, and resolves soon after the signal
   * is aborted.
   */
  send(entries: readonly AuditEntry[], signal: AbortSignal): Promise<AuditDelivery>;
};

/**
 * The number of the last entry of this service's chain that a receiver has stored. Methods throw like those of
 * AuditLog.
 */
export type ExportPosition = {
  /**
   * Makes this process the only one that delivers entries, for `leaseMs` from now.
   * @returns the number of the newest stored entry, and the number of the newest entry that retention removed before it
   * was stored; undefined while another process delivers
   */
  claim(leaseMs: number): Promise<{ readonly number: number; readonly removed: number } | undefined>;
  /** The entries after a number, in order. */
  after(number: number, limit: number): Promise<readonly AuditEntry[]>;
  /** Moves the position, unless another process has moved it. */
  advance(from: number, to: number): Promise<void>;
  /** Ends the claim, so that another process may deliver immediately. */
  release(): Promise<void>;
  /** The time of the oldest entry that the receiver has not stored, ISO 8601; undefined if it has all. */
  oldestWaiting(): Promise<string | undefined>;
};
