import { isLive, type MemoryRow, memoryColumns } from '../facts/memory-row.ts';
import { findPerson, type Person } from '../people/person.ts';
import type { MemoryRequest } from './memory.ts';

/** A live memory of the caller; undefined if no memory has this id. */
export async function findMemory({
  service,
  caller,
  path,
}: MemoryRequest): Promise<{ readonly person: Person; readonly row: MemoryRow } | undefined> {
  const { sql } = service.database;
  const person = await findPerson(sql, caller);
  if (person === undefined) return undefined;
  const [row] = await sql<MemoryRow[]>`
    select ${memoryColumns(sql)} from memory.memories m
    where m.memory_id = ${path('memory_id')} and m.person = ${person.person} and ${isLive(sql)}`;
  return row === undefined ? undefined : { person, row };
}
