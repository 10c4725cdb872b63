import type { AuditContent, AuditEntry } from '#contracts/audit';

/** A row of audit.entries. */
export type AuditRow = {
  readonly position: string;
  readonly chain: string;
  readonly number: string;
  readonly previous: string;
  readonly hash: string;
  readonly content: string;
};

export function entryOfRow(row: AuditRow): AuditEntry {
  const { chain, number, previous, hash, content } = row;
  return { chain, number: Number(number), previous, hash, content: JSON.parse(content) as AuditContent };
}
