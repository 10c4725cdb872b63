import { failure, success } from '#api/operation';
import { type EventRow, eventColumns, eventOf } from '../events/event-row.ts';
import { findPerson } from '../people/person.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';

/** The state of an add of the caller (memory:events:status). */
export async function getEvent({ service, caller, path }: MemoryRequest): Promise<MemoryResponse> {
  const { sql } = service.database;
  const person = await findPerson(sql, caller);
  if (person === undefined) return failure('not_found');
  const [row] = await sql<EventRow[]>`
    select ${eventColumns(sql)} from memory.events e
    where e.event_id = ${path('event_id')} and e.person = ${person.person}`;
  return row === undefined ? failure('not_found') : success(eventOf(row));
}
