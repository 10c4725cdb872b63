import { ClientGoneError } from '#api/watch-client';
import type { MemoryErrorCode } from '#contracts/memory-errors';
import { ModelsError } from '#models/models-error';
import { SearchUnavailableError } from '#search/search-error';
import { SqlUnavailableError } from '#sql/connect';
import { StoredTextError } from '../facts/guard-stored.ts';
import { IndexFullError } from '../people/index-room.ts';

const storedCodes = { denied: 'policy_denied', unjudgeable: 'unjudgeable_text', unavailable: 'unavailable' } as const;

/** The code of an error that an operation throws; undefined for an error of the program. */
export function memoryErrorOf(error: unknown): MemoryErrorCode | undefined {
  if (error instanceof ModelsError) {
    if (error.code === 'denied') return 'policy_denied';
    return error.code === 'refused' ? 'invalid_request' : 'unavailable';
  }
  if (error instanceof StoredTextError) return storedCodes[error.code];
  if (error instanceof IndexFullError) return 'index_full';
  // The client has disconnected and gets no answer; the code counts the request as a fault of the client.
  if (error instanceof ClientGoneError) return 'invalid_request';
  return error instanceof SqlUnavailableError || error instanceof SearchUnavailableError ? 'unavailable' : undefined;
}
