import type { ApiAnswer } from './call-api.ts';

const passing: readonly number[] = [429, 503, 504];

/**
 * Whether the service may answer the same request later: it is unavailable, it is not ready, something that it needs is late, or
 * the person has sent too many.
 */
export function isPassing(answer: ApiAnswer<unknown>): boolean {
  return answer.kind === 'away' || (answer.kind === 'refused' && passing.includes(answer.status));
}

/** Whether an answer says nothing about what was asked for, neither a value nor that the person may not have it. */
export function isMissing(answer: ApiAnswer<unknown>): boolean {
  return isPassing(answer) || (answer.kind === 'refused' && answer.status >= 500);
}
