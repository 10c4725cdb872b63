import type { ApiAnswer } from './call-api.ts';

/**
 * Whether the service may answer the same request later: it is unavailable, it is not ready, or the person has sent too
 * many.
 */
export function isPassing(answer: ApiAnswer<unknown>): boolean {
  return answer.kind === 'away' || (answer.kind === 'refused' && (answer.status === 429 || answer.status === 503));
}
