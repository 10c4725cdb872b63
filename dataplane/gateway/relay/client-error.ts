import type { CheckFailure } from '#checks/check-outcome';
import type { RequestRefusalCode } from '../chat/parse-result.ts';

/** Why a request fails, except failed checks; the table in `http/errors.ts` has the status and message of each. */
export type ClientErrorCode =
  | RequestRefusalCode
  | 'unauthenticated'
  | 'policy_denied'
  | 'model_disabled'
  | 'model_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'body_too_large'
  | 'headers_too_large'
  | 'path_too_long'
  | 'request_timeout'
  | 'unsupported_media'
  | 'upstream_refused'
  | 'upstream_rate_limited'
  | 'upstream_failed'
  | 'upstream_unreachable'
  | 'upstream_invalid'
  | 'upstream_broken'
  | 'upstream_too_large'
  | 'upstream_overloaded'
  | 'upstream_timeout'
  | 'model_unavailable'
  | 'overloaded'
  | 'shutting_down'
  | 'internal';

/** A failed check that only the gateway finds: the masked text of a structured answer is not JSON any more. */
export const unreadableMask = 'structured_answer_unreadable';

/** The error that a client receives. `code` of a failed check comes from the runtime or from `libraries/checks`. */
export type ClientError =
  | { readonly kind: 'plain'; readonly code: ClientErrorCode; readonly param?: string | null }
  | { readonly kind: 'check_failed'; readonly code: CheckFailure | typeof unreadableMask };

export function plainError(code: ClientErrorCode, param: string | null = null): ClientError {
  return { kind: 'plain', code, param };
}
