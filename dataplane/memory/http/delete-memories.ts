import { success } from '#api/operation';
import { clientClassOf } from '#audit/client-class';
import type { TransactionSql } from '#sql/connect';
import { deleteScope } from '../facts/delete-scope.ts';
import { deletionEntry } from '../people/deletion-entry.ts';
import { findPerson } from '../people/person.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { readScope } from './read-scope.ts';

/** Permanently deletes all memories of a scope (memory:delete-by-filter:*). */
export async function deleteMemories(request: MemoryRequest): Promise<MemoryResponse> {
  const { service, caller, query, incoming, traceId } = request;
  const scope = readScope(caller, query);
  if ('kind' in scope) return scope;
  const person = await findPerson(service.database.sql, caller);
  const confirmationId = service.newId();
  const by = { caller, client: clientClassOf(incoming.socket.remoteAddress), traceId };
  const entry = deletionEntry('memory.delete', confirmationId, by, service.clock.date());
  const note = (sql: TransactionSql) => service.audit.append(sql, [entry]);
  const none = { deleted: 0, cancelled: 0 };
  const { deleted, cancelled } =
    person === undefined ? none : await deleteScope(service.database, person.person, scope, { confirmationId, note });
  return success({ deleted_count: deleted, cancelled_events: cancelled, confirmation_id: confirmationId });
}
