import type { z } from 'zod';
import type { memoryHistorySchema } from '#contracts/memory';
import type { Sql, TransactionSql } from '#sql/connect';

export type HistoryRow = {
  readonly entry_id: string;
  readonly memory_id: string;
  readonly event: 'ADD' | 'UPDATE' | 'DELETE';
  readonly old_text: string | null;
  readonly new_text: string | null;
  readonly event_id: string | null;
  readonly created_at: Date;
};

export function historyColumns(sql: Sql | TransactionSql) {
  return sql`h.entry_id, h.memory_id, h.event, h.old_text, h.new_text, h.event_id, h.created_at`;
}

/** A change of a memory as clients see it (memory:history:event-values). */
export function historyEntryOf(row: HistoryRow): z.output<typeof memoryHistorySchema>[number] {
  return {
    id: row.entry_id,
    memory_id: row.memory_id,
    event: row.event,
    old_memory: row.old_text,
    new_memory: row.new_text,
    event_id: row.event_id,
    created_at: row.created_at.toISOString(),
  };
}
