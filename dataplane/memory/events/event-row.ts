import type { z } from 'zod';
import type { decisionKindSchema, memoryEventSchema } from '#contracts/memory';
import type { Sql, TransactionSql } from '#sql/connect';

/** A decision in the form that is stored and shown; it contains no text. */
export type StoredDecision = {
  readonly decision: z.output<typeof decisionKindSchema>;
  readonly memory_id: string | null;
  readonly reason: string;
  readonly message: number | null;
};

export type EventRow = {
  readonly event_id: string;
  readonly status: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED';
  readonly memory_ids: readonly string[];
  readonly decisions: readonly StoredDecision[];
  readonly error: string | null;
  readonly attempt: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export function eventColumns(sql: Sql | TransactionSql) {
  return sql`e.event_id, e.status, e.memory_ids, e.decisions, e.error, e.attempt, e.created_at, e.updated_at`;
}

/** An event as clients see it (memory:event:status-values): RUNNING is shown as PENDING. */
export function eventOf(row: EventRow): z.output<typeof memoryEventSchema> {
  return {
    event_id: row.event_id,
    status: row.status === 'RUNNING' ? 'PENDING' : row.status,
    memory_ids: [...row.memory_ids],
    decisions: [...row.decisions],
    error: row.error,
    attempts: row.attempt,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
