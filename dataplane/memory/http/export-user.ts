import { success } from '#api/operation';
import { type EventRow, eventColumns, eventOf } from '../events/event-row.ts';
import { type HistoryRow, historyColumns, historyEntryOf } from '../facts/history-row.ts';
import { type MemoryRow, memoryColumns, memoryRecordOf } from '../facts/memory-row.ts';
import { findPerson } from '../people/person.ts';
import type { SessionRow } from '../sessions/session-state.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { userIdOf } from './read-scope.ts';
import { sessionOf } from './set-session.ts';

/** All data of the caller that the service stores, read in one snapshot of the database. */
export async function exportUser({ service, caller }: MemoryRequest): Promise<MemoryResponse> {
  const userId = userIdOf(caller);
  return service.database.sql.begin('repeatable read', async (sql) => {
    const person = (await findPerson(sql, caller))?.person ?? '0';
    const memories = await sql<MemoryRow[]>`
      select ${memoryColumns(sql)} from memory.memories m where m.person = ${person} order by m.memory_id`;
    const history = await sql<HistoryRow[]>`
      select ${historyColumns(sql)} from memory.history h where h.person = ${person} order by h.entry`;
    const events = await sql<EventRow[]>`
      select ${eventColumns(sql)} from memory.events e where e.person = ${person} order by e.seq`;
    const sessions = await sql<SessionRow[]>`
      select session_id, state, updated_at, ceil(extract(epoch from expires_at - clock_timestamp()))::int as remaining
      from memory.sessions where person = ${person} and expires_at > clock_timestamp() order by session_id`;
    return success({
      user_id: userId,
      exported_at: new Date().toISOString(),
      memories: memories.map((row) => ({
        ...memoryRecordOf(row, userId),
        deleted_at: row.deleted_at?.toISOString() ?? null,
      })),
      history: history.map(historyEntryOf),
      events: events.map(eventOf),
      sessions: sessions.map(sessionOf),
    });
  });
}
