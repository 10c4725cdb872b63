import { ClientGoneError } from '#api/watch-client';
import type { MemoryErrorCode } from '#contracts/memory-errors';
import { ModelsError } from '#models/models-error';
import { SearchUnavailableError } from '#search/search-error';
import { SqlUnavailableError } from '#sql/connect';

/** The code of an error that an operation throws; undefined for an error of the program. */
export function memoryErrorOf(error: unknown): MemoryErrorCode | undefined {
  if (error instanceof ModelsError) {
    return error.code === 'denied' || error.code === 'refused' ? 'invalid_request' : 'unavailable';
  }
  // The client has disconnected and gets no answer; the code counts the request as a fault of the client.
  if (error instanceof ClientGoneError) return 'invalid_request';
  return error instanceof SqlUnavailableError || error instanceof SearchUnavailableError ? 'unavailable' : undefined;
}
