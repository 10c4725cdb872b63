import { success } from '#api/operation';
import { readLimit } from '#api/pages';
import { memoryLimits } from '#contracts/memory';
import { isLive, type MemoryRow, memoryColumns, memoryRecordOf } from '../facts/memory-row.ts';
import { findPerson } from '../people/person.ts';
import { inScope } from '../people/scope-condition.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { memoryCursors } from './page-parameters.ts';
import { readScope, userIdOf } from './read-scope.ts';

/** Memories of a scope, the newest first, in pages that neither repeat nor miss one (memory:list:*). */
export async function listMemories({ service, caller, query }: MemoryRequest): Promise<MemoryResponse> {
  const scope = readScope(caller, query);
  if ('kind' in scope) return scope;
  const { sql } = service.database;
  const person = await findPerson(sql, caller);
  if (person === undefined) return success({ count: 0, results: [], next_page_token: null });
  const size = readLimit(query['page_size'], memoryLimits.pageSize) ?? memoryLimits.pageSize.default;
  const matches = sql`m.person = ${person.person} and ${isLive(sql)} and ${inScope(sql, scope)}`;
  const after = query['page_token'] ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  const rows = await sql<(MemoryRow & { readonly total: number })[]>`
    select ${memoryColumns(sql)} from memory.memories m
    where ${matches} and m.memory_id < ${after}::uuid order by m.memory_id desc limit ${size + 1}`;
  const [total] = await sql<{ count: number }[]>`select count(*)::int as count from memory.memories m where ${matches}`;
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  const next = rows.length > size && last !== undefined ? memoryCursors.write(last.memory_id) : null;
  const userId = userIdOf(caller);
  return success({
    count: total?.count ?? 0,
    results: shown.map((row) => memoryRecordOf(row, userId)),
    next_page_token: next,
  });
}
