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
  /** `next` of the page before. */
  readonly after?: string | undefined;
};

/**
 * The audit log of one service: a chain of entries that are never changed (docs/design/audit.md). Every method throws
 * SqlUnavailableError or SqlStatementError when the database does not carry it out.
 */
export type AuditLog = {
  /**
   * Adds entries in order, in the transaction of the caller, as its last statement: the head of the chain stays locked
   * until the transaction ends.
   */
  append(sql: TransactionSql, contents: readonly AuditContent[]): Promise<void>;
  /** Adds entries in a transaction of its own. */
  write(contents: readonly AuditContent[]): Promise<void>;
  /** Adds an entry unless one with this source exists. `source` names what was observed. @returns whether it was added */
  writeOnce(source: string, content: AuditContent): Promise<boolean>;
  /** Remembers sources that need no entry, as if they had one; at most 500. */
  addSources(sources: readonly string[]): Promise<void>;
  /** Which of these sources have no entry, and had none before retention; at most 500. */
  unknownSources(sources: readonly string[]): Promise<readonly string[]>;
  /** Entries of every chain. A walk in one order returns each entry that existed at its start once. */
  read(query: AuditQuery): Promise<AuditPage>;
  chains(): Promise<readonly AuditChain[]>;
  /**
   * Removes the entries of this chain before a time, except the newest one, and records the removal as the newest entry.
   * @returns the number of removed entries
   */
  retain(before: Date, now: Date): Promise<number>;
};
