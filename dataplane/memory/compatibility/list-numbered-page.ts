import { success } from '#api/operation';
import { readLimit } from '#api/pages';
import { readBodyAs } from '#api/read-body';
import { memoryLimits } from '#contracts/memory';
import { countLive, listLive } from '../facts/live-memories.ts';
import { memoryRecordOf } from '../facts/memory-row.ts';
import type { MemoryRequest, MemoryResponse } from '../http/memory.ts';
import { readScope, userIdOf } from '../http/read-scope.ts';
import { findPerson } from '../people/person.ts';
import { compatibleListSchema } from './compatible-bodies.ts';

/** Page numbers start at 1. A page may repeat or miss a memory if others are added between two requests. */
const lastPage = memoryLimits.memories.max;

export function readPageNumber(text: string | undefined): number | undefined {
  return readLimit(text, { min: 1, max: lastPage, default: 1 });
}

/** Memories of a scope, the newest first, in numbered pages. */
export async function listNumberedPage({ service, caller, query, body }: MemoryRequest): Promise<MemoryResponse> {
  const read = readBodyAs(compatibleListSchema, body, 'invalid_request');
  if (read.kind === 'error') return read;
  const scope = readScope(caller, read.value.filters ?? {});
  if ('kind' in scope) return scope;
  const page = readPageNumber(query['page']) ?? 1;
  const size = readLimit(query['page_size'], memoryLimits.pageSize) ?? memoryLimits.pageSize.default;
  const { sql } = service.database;
  const person = (await findPerson(sql, caller))?.person ?? '0';
  const rows = await listLive(sql, person, scope, { size, offset: (page - 1) * size });
  const count = await countLive(sql, person, scope);
  const userId = userIdOf(caller);
  const at = (number: number): string => `/v3/memories/?page=${number}&page_size=${size}`;
  return success({
    count,
    next: page * size < count ? at(page + 1) : null,
    previous: page > 1 ? at(page - 1) : null,
    results: rows.map((row) => memoryRecordOf(row, userId)),
  });
}
