import { failure, success } from '#api/operation';
import { readBodyAs } from '#api/read-body';
import { watchClient } from '#api/watch-client';
import { setSessionSchema } from '#contracts/memory';
import type { JsonValue } from '#kit/json/json-value';
import { guardValue } from '../facts/guard-stored.ts';
import { type SessionRow, setSession } from '../sessions/session-state.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';

/** Replaces the state of a session of the caller (memory:session:set). */
export async function answerSetSession({
  service,
  caller,
  incoming,
  path,
  body,
}: MemoryRequest): Promise<MemoryResponse> {
  const read = readBodyAs(setSessionSchema, body, 'invalid_request');
  if (read.kind === 'error') return read;
  const { ttl_seconds: ttlSeconds } = read.value;
  using client = watchClient(incoming);
  const given = read.value.state as Readonly<Record<string, JsonValue>>;
  const state = await guardValue(service.guard, given, client.signal);
  const session = { sessionId: path('session_id'), state, ttlSeconds };
  const stored = await setSession(service.database, caller, session, service.quota);
  if (typeof stored === 'object') return success(sessionOf(stored));
  service.onQuotaReached(stored);
  return failure('rate_limited');
}

export function sessionOf({ session_id, state, updated_at, remaining }: SessionRow): object {
  return {
    session_id,
    state,
    updated_at: updated_at.toISOString(),
    ttl_remaining_seconds: Math.max(0, remaining),
  };
}
