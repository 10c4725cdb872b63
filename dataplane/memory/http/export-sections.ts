import type { MemoryMessage } from '#contracts/memory';
import type { Sql, TransactionSql } from '#sql/connect';
import { type EventRow, eventColumns, eventOf } from '../events/event-row.ts';
import { type HistoryRow, historyColumns, historyEntryOf } from '../facts/history-row.ts';
import { type MemoryRow, memoryColumns, memoryRecordOf } from '../facts/memory-row.ts';
import type { SessionRow } from '../sessions/session-state.ts';
import { sessionOf } from './answer-set-session.ts';

/** The parts of an export, in the order in which its pages contain them. */
export const exportSections = ['memories', 'history', 'events', 'sessions', 'deletions'] as const;
export type ExportSection = (typeof exportSections)[number];

type Range = {
  readonly person: string;
  readonly userId: string;
  /** Key of the row before; undefined at the beginning of the section. */
  readonly after: string | undefined;
  /** Maximum number of rows. */
  readonly rows: number;
  /** Bytes of text after which no more rows are read. */
  readonly bytes: number;
};

type Keyed = { readonly key: string; readonly bytes: number };
type ExportedRow = Keyed & { readonly shown: object };

/**
 * The next rows of a section in the order of their keys. The text may exceed the limit of the range by at most one row.
 */
export async function readSection(
  sql: TransactionSql,
  section: ExportSection,
  range: Range,
): Promise<readonly ExportedRow[]> {
  switch (section) {
    case 'memories':
      return show(await memories(sql, range), (row) => ({
        ...memoryRecordOf(row, range.userId),
        deleted_at: row.deleted_at?.toISOString() ?? null,
      }));
    case 'history':
      return show(await history(sql, range), historyEntryOf);
    case 'events':
      return show(await events(sql, range), exportedEventOf);
    case 'sessions':
      return show(await sessions(sql, range), sessionOf);
    case 'deletions':
      return show(await deletions(sql, range), ({ confirmation_id, deleted_count, cancelled_events, deleted_at }) => ({
        ...{ confirmation_id, deleted_count, cancelled_events, deleted_at: deleted_at.toISOString() },
      }));
  }
}

function show<T extends Keyed>(rows: readonly T[], shownOf: (row: T) => object): readonly ExportedRow[] {
  return rows.map((row) => ({ key: String(row.key), bytes: row.bytes, shown: shownOf(row) }));
}

type Statement = ReturnType<Sql>;

/** Limits a statement that selects `key` and `bytes` to its first rows, up to the bound of bytes. */
function bounded(sql: TransactionSql, { bytes }: Range, rows: Statement) {
  return sql`
    select * from (
      select r.*, sum(r.bytes) over (order by r.key) - r.bytes as bytes_before from (${rows}) r) b
    where bytes_before < ${bytes} order by key`;
}

async function memories(sql: TransactionSql, range: Range): Promise<readonly (MemoryRow & Keyed)[]> {
  return sql<(MemoryRow & Keyed)[]>`${bounded(
    sql,
    range,
    sql`
    select ${memoryColumns(sql)}, m.memory_id as key,
      octet_length(to_json(m.text)::text) + octet_length(m.metadata::text) + octet_length(m.categories::text) as bytes
    from memory.memories m
    where m.person = ${range.person} and m.memory_id > ${range.after ?? '00000000-0000-0000-0000-000000000000'}
    order by m.memory_id limit ${range.rows}`,
  )}`;
}

async function history(sql: TransactionSql, range: Range): Promise<readonly (HistoryRow & Keyed)[]> {
  return sql<(HistoryRow & Keyed)[]>`${bounded(
    sql,
    range,
    sql`
    select ${historyColumns(sql)}, h.entry as key,
      coalesce(octet_length(to_json(h.old_text)::text), 0) + coalesce(octet_length(to_json(h.new_text)::text), 0) as bytes
    from memory.history h where h.person = ${range.person} and h.entry > ${range.after ?? '0'}::bigint
    order by h.entry limit ${range.rows}`,
  )}`;
}

type ExportedEventRow = EventRow & {
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly infer: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly categories: readonly string[];
  readonly expires_at: Date | null;
  readonly messages: readonly MemoryMessage[] | null;
  readonly idempotency_key: string | null;
};

async function events(sql: TransactionSql, range: Range): Promise<readonly (ExportedEventRow & Keyed)[]> {
  return sql<(ExportedEventRow & Keyed)[]>`${bounded(
    sql,
    range,
    sql`
    select ${eventColumns(sql)}, e.agent_id, e.run_id, e.infer, e.metadata, e.categories, e.expires_at, e.messages,
      e.idempotency_key, e.seq as key,
      coalesce(octet_length(e.messages::text), 0) + octet_length(e.metadata::text) + octet_length(e.categories::text)
        + octet_length(e.decisions::text) + octet_length(e.memory_ids::text) as bytes
    from memory.events e where e.person = ${range.person} and e.seq > ${range.after ?? '0'}::bigint
    order by e.seq limit ${range.rows}`,
  )}`;
}

function exportedEventOf(row: ExportedEventRow): object {
  const { agent_id, run_id, infer, metadata, categories, messages, idempotency_key } = row;
  return {
    ...eventOf(row),
    ...{ agent_id, run_id, infer, metadata, categories, messages, idempotency_key },
    expires_at: row.expires_at?.toISOString() ?? null,
  };
}

async function sessions(sql: TransactionSql, range: Range): Promise<readonly (SessionRow & Keyed)[]> {
  return sql<(SessionRow & Keyed)[]>`${bounded(
    sql,
    range,
    sql`
    select s.session_id, s.state, s.updated_at, s.session_id as key, octet_length(s.state::text) as bytes,
      ceil(extract(epoch from s.expires_at - clock_timestamp()))::int as remaining
    from memory.sessions s where s.person = ${range.person} and s.session_id > ${range.after ?? ''}
    order by s.session_id limit ${range.rows}`,
  )}`;
}

type DeletionRow = {
  readonly confirmation_id: string;
  readonly deleted_count: number;
  readonly cancelled_events: number;
  readonly deleted_at: Date;
};

async function deletions(sql: TransactionSql, range: Range): Promise<readonly (DeletionRow & Keyed)[]> {
  return sql<(DeletionRow & Keyed)[]>`${bounded(
    sql,
    range,
    sql`
    select d.confirmation_id, d.deleted_count, d.cancelled_events, d.deleted_at, d.confirmation_id as key, 0 as bytes
    from memory.deletions d
    where d.person = ${range.person} and d.confirmation_id > ${range.after ?? '00000000-0000-0000-0000-000000000000'}
    order by d.confirmation_id limit ${range.rows}`,
  )}`;
}
