import { RelationsUnavailableError } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';

/**
 * The reason why a question about rights has no answer. `unavailable`: the store does not answer now, or cannot follow
 * all groups of the caller. `unnamed`: the names of the caller are too long for the store, so that the caller can have
 * no right. Undefined for an error of the program.
 */
export function rightsFault(error: unknown): 'unavailable' | 'unnamed' | undefined {
  if (error instanceof RelationsUnavailableError) return 'unavailable';
  if (!(error instanceof RelationsModelError)) return undefined;
  return error.code === 'too_complex' ? 'unavailable' : 'unnamed';
}
