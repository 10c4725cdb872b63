import { failure, success } from '#api/operation';
import { type HistoryRow, historyColumns, historyEntryOf } from '../facts/history-row.ts';
import { findPerson } from '../people/person.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';

/** Every change of a memory, also after its soft deletion (memory:history:*). */
export async function getHistory({ service, caller, path }: MemoryRequest): Promise<MemoryResponse> {
  const { sql } = service.database;
  const person = await findPerson(sql, caller);
  if (person === undefined) return failure('not_found');
  const rows = await sql<HistoryRow[]>`
    select ${historyColumns(sql)} from memory.history h
    where h.memory_id = ${path('memory_id')} and h.person = ${person.person} order by h.entry`;
  return rows.length === 0 ? failure('not_found') : success(rows.map(historyEntryOf));
}
