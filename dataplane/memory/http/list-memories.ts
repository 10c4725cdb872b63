import { success } from '#api/operation';
import { readLimit } from '#api/pages';
import { memoryLimits } from '#contracts/memory';
import { countLive, listLive } from '../facts/live-memories.ts';
import { memoryRecordOf } from '../facts/memory-row.ts';
import { findPerson } from '../people/person.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { memoryCursors } from './page-parameters.ts';
import { readScope, userIdOf } from './read-scope.ts';

/** Lists memories of a scope, the newest first, in pages that neither repeat nor miss a memory (memory:list:*). */
export async function listMemories({ service, caller, query }: MemoryRequest): Promise<MemoryResponse> {
  const scope = readScope(caller, query);
  if ('kind' in scope) return scope;
  const { sql } = service.database;
  const person = await findPerson(sql, caller);
  if (person === undefined) return success({ count: 0, results: [], next_page_token: null });
  const size = readLimit(query['page_size'], memoryLimits.pageSize) ?? memoryLimits.pageSize.default;
  const rows = await listLive(sql, person.person, scope, { size: size + 1, after: query['page_token'] });
  const count = await countLive(sql, person.person, scope);
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  const next = rows.length > size && last !== undefined ? memoryCursors.write(last.memory_id) : null;
  const userId = userIdOf(caller);
  return success({
    count,
    results: shown.map((row) => memoryRecordOf(row, userId)),
    next_page_token: next,
  });
}
