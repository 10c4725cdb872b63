import { failure } from '#api/operation';
import { readBodyAs } from '#api/read-body';
import { addMemoriesSchema, memoryLimits } from '#contracts/memory';
import { headerValues } from '#kit/http/raw-headers';
import { submitEvent } from '../events/submit-event.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { wrongUser } from './read-scope.ts';

/** Visible ASCII characters. */
const idempotencyKeyForm = new RegExp(`^[\\x21-\\x7e]{1,${memoryLimits.key}}$`);

/** Accepts messages; facts are extracted afterwards (memory:add:asynchronous). */
export async function addMemories(request: MemoryRequest): Promise<MemoryResponse> {
  const [key, ...more] = headerValues(request.incoming.rawHeaders, 'idempotency-key');
  if (more.length > 0 || (key !== undefined && !idempotencyKeyForm.test(key))) {
    return failure('invalid_request', [
      { path: 'Idempotency-Key', message: 'is not one header of 1 to 255 visible characters' },
    ]);
  }
  return acceptMessages(request, key);
}

/** @param key requests with the same key and body are one event; without a key each request is a new event */
export async function acceptMessages(request: MemoryRequest, key: string | undefined): Promise<MemoryResponse> {
  const { service, caller, body, traceId } = request;
  const read = readBodyAs(addMemoriesSchema, body, 'invalid_request');
  if (read.kind === 'error') return read;
  const refused = wrongUser(caller, read.value.user_id);
  if (refused !== undefined) return refused;
  if (read.value.agent_id === undefined && read.value.run_id === undefined) return failure('missing_scope');
  const eventId = service.newId();
  const submission = {
    eventId,
    caller,
    body: read.value,
    key,
    digest: body.digest,
    traceId,
    room: service.room(),
    quota: service.quota,
  };
  const submitted = await submitEvent(service.database, submission);
  if (submitted.kind === 'conflict') return failure('conflict');
  if (submitted.kind === 'quota') {
    service.onQuotaReached(submitted.quota);
    return failure(submitted.quota === 'user_index' ? 'index_full' : 'rate_limited');
  }
  service.hint();
  return { kind: 'success', status: 202, body: { event_id: submitted.eventId, status: 'PENDING' } };
}
