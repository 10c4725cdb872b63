import type { CheckFailure } from '#checks/check-outcome';
import type { RequestRefusalCode } from '../chat/parse-result.ts';

/** Why a request fails, but for failed checks; the table in `http/errors.ts` gives each its status and sentence. */
export type ClientErrorCode =
  | RequestRefusalCode
  | 'unauthenticated'
  | 'policy_denied'
  | 'model_disabled'
  | 'model_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'body_too_large'
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

/** A failure that only the gateway can find in a check: the mask left a structured answer that cannot be read. */
export const unreadableMask = 'structured_answer_unreadable';

/** What a client is told when a request fails. `code` of a failed check is the runtime's, or one of our check client. */
export type ClientError =
  | { readonly kind: 'plain'; readonly code: ClientErrorCode; readonly param?: string | null }
  | { readonly kind: 'check_failed'; readonly code: CheckFailure | typeof unreadableMask };

export function plainError(code: ClientErrorCode, param: string | null = null): ClientError {
  return { kind: 'plain', code, param };
}
