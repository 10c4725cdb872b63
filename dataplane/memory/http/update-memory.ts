import { failure, success } from '#api/operation';
import { readBodyAs } from '#api/read-body';
import { watchClient } from '#api/watch-client';
import { memoryLimits, type UpdateMemory, updateMemorySchema } from '#contracts/memory';
import type { JsonValue } from '#kit/json/json-value';
import { ModelsError } from '#models/models-error';
import { readStatement } from '../extraction/read-statement.ts';
import { guardValue, type MemoryGuard, StoredTextError } from '../facts/guard-stored.ts';
import { memoryRecordOf } from '../facts/memory-row.ts';
import { embedTexts, unembedded } from '../facts/memory-text.ts';
import { relabelMemory, replaceMemory } from '../facts/write-memory.ts';
import { withinIndexRoom } from '../people/index-room.ts';
import { beginChange } from '../people/person.ts';
import { findMemory } from './find-memory.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { userIdOf } from './read-scope.ts';

/**
 * Replaces the sent members of text, metadata and categories; the next search returns the new text
 * (memory:update:visible-at-once). While no embedder is available, the text is found by its words immediately and by
 * its meaning later.
 * @throws IndexFullError if the changed memory does not fit into the index
 */
export async function updateMemory(request: MemoryRequest): Promise<MemoryResponse> {
  const { service } = request;
  const read = readBodyAs(updateMemorySchema, request.body, 'invalid_request');
  if (read.kind === 'error') return read;
  const found = await findMemory(request);
  if (found === undefined) return failure('not_found');
  using client = watchClient(request.incoming);
  const { text, metadata, categories } = await guardChange(service.guard, read.value, client.signal);
  const memory = text === undefined ? undefined : await textOf(request, text, client.signal);
  const changed = await service.database.sql.begin(async (sql) => {
    const { person } = found.person;
    const changeNo = await beginChange(sql, person);
    if (changeNo === undefined) return undefined;
    const change = { sql, person, changeNo, eventId: null, newId: service.newId };
    const id = found.row.memory_id;
    const labels = { metadata, categories };
    const rest = { source: null, statedAt: null, expiresAt: undefined };
    return withinIndexRoom(sql, person, service.room(), () =>
      memory === undefined
        ? relabelMemory(change, id, labels)
        : replaceMemory(change, id, { ...memory, ...labels, ...rest }),
    );
  });
  return changed === undefined ? failure('not_found') : success(memoryRecordOf(changed, userIdOf(request.caller)));
}

async function textOf({ service, traceparent }: MemoryRequest, text: string, signal: AbortSignal) {
  const topic = readStatement(text)?.topic ?? null;
  const call = { signal, traceparent };
  try {
    const [embedded] = await embedTexts(service, [{ text, topic }], call);
    return embedded ?? unembedded(service, text, topic);
  } catch (error) {
    if (!(error instanceof ModelsError) || error.code !== 'unavailable') throw error;
    service.onModelsAway(error);
    return unembedded(service, text, topic);
  }
}

/** The change with every text judged. @throws StoredTextError, including a masked text that is no memory */
async function guardChange(guard: MemoryGuard, change: UpdateMemory, signal: AbortSignal): Promise<UpdateMemory> {
  const { text, metadata, categories } = change;
  const given: JsonValue[] = [text ?? null, (metadata ?? null) as JsonValue, categories ?? null];
  const judged = await guardValue(guard, given, signal);
  const masked = (judged[0] ?? undefined) as string | undefined;
  if (masked !== undefined && (masked.trim() === '' || masked.length > memoryLimits.memoryLength)) {
    throw new StoredTextError('unjudgeable', 'the masked text is blank or longer than a memory');
  }
  return {
    text: masked,
    metadata: (judged[1] ?? undefined) as UpdateMemory['metadata'],
    categories: (judged[2] ?? undefined) as UpdateMemory['categories'],
  };
}
