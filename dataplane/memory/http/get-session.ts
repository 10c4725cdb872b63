import { failure, success } from '#api/operation';
import { findPerson } from '../people/person.ts';
import { getSession as read } from '../sessions/session-state.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { sessionOf } from './set-session.ts';

/** The state of a session of the caller that has not expired (memory:session:get). */
export async function getSession({ service, caller, path }: MemoryRequest): Promise<MemoryResponse> {
  const person = await findPerson(service.database.sql, caller);
  if (person === undefined) return failure('not_found');
  const row = await read(service.database, person.person, path('session_id'));
  return row === undefined ? failure('not_found') : success(sessionOf(row));
}
