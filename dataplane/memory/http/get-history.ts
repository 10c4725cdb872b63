import { failure, success } from '#api/operation';
import { memoryLimits } from '#contracts/memory';
import { type HistoryRow, historyColumns, historyEntryOf } from '../facts/history-row.ts';
import { findPerson } from '../people/person.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';

const { historyBytes, historyEntryBytes } = memoryLimits;
const mostEntries = Math.floor(historyBytes / historyEntryBytes);

/**
 * Every change of a memory, even after its soft deletion (memory:history:*). The answer is complete or an error: a history
 * beyond its bound is measured in the database and not read (docs/decisions/0148).
 */
export async function getHistory({ service, caller, path }: MemoryRequest): Promise<MemoryResponse> {
  const { sql } = service.database;
  const person = await findPerson(sql, caller);
  if (person === undefined) return failure('not_found');
  const ofMemory = sql`h.memory_id = ${path('memory_id')} and h.person = ${person.person}`;
  const [size] = await sql<{ bytes: number }[]>`
    select sum(${historyEntryBytes}::int + coalesce(octet_length(e.old_text), 0) + coalesce(octet_length(e.new_text), 0))::float8
      as bytes
    from (select h.old_text, h.new_text from memory.history h where ${ofMemory} limit ${mostEntries + 1}) e`;
  if ((size?.bytes ?? 0) > historyBytes) return failure('history_too_large');
  const rows = await sql<HistoryRow[]>`
    select ${historyColumns(sql)} from memory.history h where ${ofMemory} order by h.entry`;
  return rows.length === 0 ? failure('not_found') : success(rows.map(historyEntryOf));
}
