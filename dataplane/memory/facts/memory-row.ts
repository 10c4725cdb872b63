import type { MemoryRecord } from '#contracts/memory';
import type { Sql, TransactionSql } from '#sql/connect';

/** A row of a memory as the statements of this folder select it. */
export type MemoryRow = {
  readonly memory_id: string;
  readonly text: string;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly categories: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly hash: string;
  readonly role: string;
  readonly source: StoredSource | null;
  readonly tokens: number;
  readonly version: number;
  readonly expires_at: Date | null;
  readonly deleted_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};

type StoredSource = {
  readonly event_id: string;
  readonly message: number;
  readonly start: number;
  readonly end: number;
  readonly said_at: string;
};

export function memoryColumns(sql: Sql | TransactionSql) {
  return sql`
    m.memory_id, m.text, m.agent_id, m.run_id, m.categories, m.metadata, m.hash, m.role, m.source, m.tokens, m.version,
    m.expires_at, m.deleted_at, m.created_at, m.updated_at`;
}

/** The condition under which reads, lists and searches return a memory. */
export function isLive(sql: Sql | TransactionSql) {
  return sql`m.deleted_at is null and (m.expires_at is null or m.expires_at > clock_timestamp())`;
}

/** When the person stated a memory last; rows older than this column have the time in their source. */
export function lastStated(sql: Sql | TransactionSql) {
  return sql`coalesce(m.stated_at, least((m.source->>'said_at')::timestamptz, m.updated_at))`;
}

/** A memory as clients see it (memory:record:fields). */
export function memoryRecordOf(row: MemoryRow, userId: string): MemoryRecord {
  return {
    id: row.memory_id,
    memory: row.text,
    user_id: userId,
    agent_id: row.agent_id,
    run_id: row.run_id,
    categories: [...row.categories],
    metadata: row.metadata,
    hash: row.hash,
    role: row.role,
    source: row.source,
    expires_at: row.expires_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
