import { failure, success } from '#api/operation';
import { findPerson } from '../people/person.ts';
import { getSession } from '../sessions/session-state.ts';
import { sessionOf } from './answer-set-session.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';

/** The state of a session of the caller that has not expired (memory:session:get). */
export async function answerGetSession({ service, caller, path }: MemoryRequest): Promise<MemoryResponse> {
  const person = await findPerson(service.database.sql, caller);
  if (person === undefined) return failure('not_found');
  const row = await getSession(service.database, person.person, path('session_id'));
  return row === undefined ? failure('not_found') : success(sessionOf(row));
}
