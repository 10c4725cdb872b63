import { success } from '#api/operation';
import { readBodyAs } from '#api/read-body';
import { clientClassOf } from '#audit/client-class';
import { eraseUserSchema } from '#contracts/memory';
import { deletionEntry } from '../people/deletion-entry.ts';
import { erasePerson } from '../people/erase-person.ts';
import { dropPeople, memoryPartitionOf } from '../people/memory-partition.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { wrongUser } from './read-scope.ts';

/** Erases the caller: memories, history, events, session states and the name. The erasure cannot be undone. */
export async function eraseUser(request: MemoryRequest): Promise<MemoryResponse> {
  const { service, caller, body, incoming, traceId } = request;
  const read = readBodyAs(eraseUserSchema, body, 'invalid_request');
  if (read.kind === 'error') return read;
  const refused = wrongUser(caller, read.value.user_id);
  if (refused !== undefined) return refused;
  const confirmationId = service.newId();
  const by = { caller, client: clientClassOf(incoming.socket.remoteAddress), traceId };
  const entry = deletionEntry('memory.erase', confirmationId, by, service.clock.date());
  const { person, ...record } = await erasePerson(service.database, caller, {
    confirmationId,
    note: (sql) => service.audit.append(sql, [entry]),
  });
  if (person !== undefined) {
    // The present partition is dropped, too, because it may be loading; a former partition of a loaded person is in the
    // list.
    await service.index.drop(memoryPartitionOf(person, service.profile()));
    await dropPeople(service.index, (other) => other === person);
    service.announceErasure();
  }
  return success(record);
}
