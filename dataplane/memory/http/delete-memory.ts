import { failure, success } from '#api/operation';
import { removeMemory } from '../facts/write-memory.ts';
import { beginChange } from '../people/person.ts';
import { findMemory } from './find-memory.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';

/** Soft-deletes one memory: its history can still be read (memory:delete:soft). */
export async function deleteMemory(request: MemoryRequest): Promise<MemoryResponse> {
  const { service } = request;
  const found = await findMemory(request);
  if (found === undefined) return failure('not_found');
  const { person } = found.person;
  const isRemoved = await service.database.sql.begin(async (sql) => {
    const changeNo = await beginChange(sql, person);
    if (changeNo === undefined) return false;
    return removeMemory({ sql, person, changeNo, eventId: null, newId: service.newId }, found.row.memory_id);
  });
  if (!isRemoved) return failure('not_found');
  return success({ message: 'The memory was deleted.', id: found.row.memory_id });
}
