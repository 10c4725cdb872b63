import { ClientGoneError } from '#api/watch-client';
import type { CatalogueErrorCode } from '#contracts/catalogue-errors';
import { ModelsError } from '#models/models-error';
import { RelationsUnavailableError } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import { SearchUnavailableError } from '#search/search-error';
import { SqlUnavailableError } from '#sql/connect';

/** The code of an error that an operation throws; undefined for an error of the program. */
export function catalogueErrorOf(error: unknown): CatalogueErrorCode | undefined {
  if (error instanceof RelationsUnavailableError) {
    return error.isLate ? 'dependency_timeout' : 'authorization_unavailable';
  }
  // The names of the caller are too long for the store of rights, so that the caller can have no right.
  if (error instanceof RelationsModelError) return 'unauthenticated';
  if (error instanceof ModelsError) {
    if (error.code === 'denied' || error.code === 'refused') return 'invalid_request';
    return error.isLate ? 'dependency_timeout' : 'search_unavailable';
  }
  if (error instanceof SearchUnavailableError) return 'search_unavailable';
  // The client has disconnected and gets no answer; the code counts the request as a fault of the client.
  if (error instanceof ClientGoneError) return 'invalid_request';
  if (!(error instanceof SqlUnavailableError)) return undefined;
  return error.isLate ? 'dependency_timeout' : 'database_unavailable';
}
