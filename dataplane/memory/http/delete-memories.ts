import { success } from '#api/operation';
import { deleteScope } from '../facts/delete-scope.ts';
import { findPerson } from '../people/person.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { readScope } from './read-scope.ts';

/** Permanently deletes all memories of a scope (memory:delete-by-filter:*). */
export async function deleteMemories({ service, caller, query }: MemoryRequest): Promise<MemoryResponse> {
  const scope = readScope(caller, query);
  if ('kind' in scope) return scope;
  const person = await findPerson(service.database.sql, caller);
  const confirmationId = service.newId();
  const none = { deleted: 0, cancelled: 0 };
  const { deleted, cancelled } =
    person === undefined ? none : await deleteScope(service.database, person.person, scope, confirmationId);
  return success({ deleted_count: deleted, cancelled_events: cancelled, confirmation_id: confirmationId });
}
