import { success } from '#api/operation';
import { readBodyAs } from '#api/read-body';
import { eraseUserSchema } from '#contracts/memory';
import { erasePerson } from '../people/erase-person.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { wrongUser } from './read-scope.ts';

/** Erases the caller: memories, history, events, session states and the name. It cannot be undone. */
export async function eraseUser({ service, caller, body }: MemoryRequest): Promise<MemoryResponse> {
  const read = readBodyAs(eraseUserSchema, body, 'invalid_request');
  if (read.kind === 'error') return read;
  const refused = wrongUser(caller, read.value.user_id);
  if (refused !== undefined) return refused;
  const { person, ...record } = await erasePerson(service.database, caller, service.newId());
  if (person !== undefined) {
    await service.index.drop(person);
    service.announceErasure();
  }
  return success(record);
}
