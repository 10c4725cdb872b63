import { RelationsUnavailableError } from '../../relations-error.ts';

/** An error without the request: errors of the SDK contain requests and tokens, and may quote texts of the server. */
export function unanswered(error: unknown, isLate = false): RelationsUnavailableError {
  return new RelationsUnavailableError(undefined, isLate, isLate ? 'no answer in time' : reasonOf(error));
}

function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('statusCode' in error && typeof error.statusCode === 'number') return `HTTP ${error.statusCode}`;
  // The SDK keeps the code of a socket in the message only.
  return /\bE(?:CONN|HOST|NET|PIPE|AI_|TIMEDOUT)[A-Z_]*\b/.exec(error.message)?.[0];
}
