import type { ApiAnswer } from './call-api.ts';

const passing: readonly number[] = [429, 503, 504];

/**
 * Whether the service may answer the same request later: it is unavailable, it is not ready, something that it needs is late, or
 * the person has sent too many.
 */
export function isPassing(answer: ApiAnswer<unknown>): boolean {
  return answer.kind === 'away' || (answer.kind === 'refused' && passing.includes(answer.status));
}
