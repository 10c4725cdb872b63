import { ClientGoneError } from '#api/watch-client';
import type { RetrievalErrorCode } from '#contracts/retrieval-errors';
import { ModelsError } from '#models/models-error';
import { ObjectsUnavailableError } from '#objects/objects-error';
import { RelationsUnavailableError } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import { SearchUnavailableError } from '#search/search-error';
import { SqlUnavailableError } from '#sql/connect';
import { ProfileUnavailableError } from '../query/search-collection.ts';

/** The code of an error that an operation throws; undefined for an error of the program. */
export function errorOf(error: unknown): RetrievalErrorCode | undefined {
  if (error instanceof RelationsUnavailableError) return 'authz_unavailable';
  if (error instanceof RelationsModelError) {
    // If the rights of a caller are too many to evaluate, there is no decision; a caller whose name no store accepts
    // has no rights.
    return error.code === 'too_complex' ? 'authz_unavailable' : 'forbidden';
  }
  if (error instanceof ModelsError)
    return error.code === 'denied' || error.code === 'refused' ? 'invalid_document' : 'unavailable';
  // The client has disconnected and gets no answer; the code counts the request as a fault of the client.
  if (error instanceof ClientGoneError) return 'invalid_document';
  // The turn of a change of rights, or the answer of a dependency, did not come in time.
  const isLate = error instanceof DOMException && error.name === 'TimeoutError';
  const isAway =
    isLate ||
    error instanceof SqlUnavailableError ||
    error instanceof SearchUnavailableError ||
    error instanceof ObjectsUnavailableError ||
    error instanceof ProfileUnavailableError;
  return isAway ? 'unavailable' : undefined;
}
