import { failure, success } from '#api/operation';
import { bodyFailure, readBodyAs } from '#api/read-body';
import { watchClient } from '#api/watch-client';
import { searchMemoriesSchema } from '#contracts/memory';
import { findPerson } from '../people/person.ts';
import { parseFilters } from '../search/parse-filters.ts';
import { searchMemories } from '../search/search-memories.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { userIdOf, userNames } from './read-scope.ts';

/** A search by meaning is never answered by words instead. */
const withoutVectors = {
  path: ['mode'],
  message: 'semantic needs an approved embedding profile, and this service has none: use hybrid or bm25',
};

/** The best memories of the caller within top_k and the token budget (memory:search:*). */
export async function answerSearchMemories(request: MemoryRequest): Promise<MemoryResponse> {
  const { service, caller, incoming } = request;
  const read = readBodyAs(searchMemoriesSchema, request.body, 'invalid_request');
  if (read.kind === 'error') return read;
  if (read.value.mode !== 'bm25' && service.profile() === undefined) {
    // A profile that is named and not approved at present: a search by meaning is not answered by words instead.
    if (service.isProfileNamed) return failure('unavailable');
    if (read.value.mode === 'semantic') return bodyFailure([withoutVectors], 'invalid_request');
  }
  const userId = userIdOf(caller);
  const filters = read.value.filters === undefined ? undefined : parseFilters(read.value.filters, userNames(caller));
  if (filters?.kind === 'wrong_user') return failure('wrong_user_id');
  if (filters?.kind === 'fault') {
    const { path, message } = filters.fault;
    return bodyFailure([{ path: ['filters', ...path], message }], 'invalid_request');
  }
  const person = await findPerson(service.database.sql, caller);
  if (person === undefined) return success({ results: [], tokens_returned: 0 });
  using client = watchClient(incoming);
  const call = { signal: client.signal, traceparent: request.traceparent };
  const found = await searchMemories(service, {
    person,
    userId,
    request: read.value,
    condition: filters?.condition,
    call,
  });
  return success({ results: found.results, tokens_returned: found.tokens });
}
