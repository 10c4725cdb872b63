import { failure, success } from '#api/operation';
import { memoryRecordOf } from '../facts/memory-row.ts';
import { findMemory } from './find-memory.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { userIdOf } from './read-scope.ts';

/** Answers with one memory of the caller (memory:get:ok). */
export async function getMemory(request: MemoryRequest): Promise<MemoryResponse> {
  const found = await findMemory(request);
  return found === undefined ? failure('not_found') : success(memoryRecordOf(found.row, userIdOf(request.caller)));
}
