import type { ApiAnswer } from './call-api.ts';

/**
 * Whether the same request may succeed later: the service is unavailable or not ready, or the person has sent too many
 * requests.
 */
export function isPassing(answer: ApiAnswer<unknown>): boolean {
  return answer.kind === 'away' || (answer.kind === 'refused' && (answer.status === 429 || answer.status === 503));
}
