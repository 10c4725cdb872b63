import type { CheckFailure, Excess } from '#checks/check-outcome';
import { denyText } from '#contracts/checks';
import type { RequestRefusalCode } from '../chat/parse-result.ts';

const request = (status: number, message: string) => ({ status, type: 'invalid_request_error', message }) as const;
const upstream = (status: number, message: string) => ({ status, type: 'upstream_error', message }) as const;
const unavailable = (message: string) => ({ status: 503, type: 'service_unavailable', message }) as const;

/**
 * Every error of the gateway except failed checks: code, status, type and message. The body has the shape of the
 * OpenAI API; no message repeats text of a request or of a provider, but for the plain name of a member.
 */
export const clientErrors = {
  invalid_json: request(
    400,
    'The request is not valid HTTP, or its body is not strict JSON in UTF-8 without repeated keys.',
  ),
  invalid_request: request(400, 'A member of the request is missing or has the wrong type.'),
  unknown_key: request(400, 'The request has a member that this model does not accept.'),
  ambiguous_key: request(400, 'The request has a member whose name differs from a known one only in letter case.'),
  unsupported_value: request(400, 'The request asks for an answer that cannot be checked.'),
  unsupported_for_profile: request(
    400,
    'The content profile of this model allows text only: no streaming, no tools and no other content parts.',
  ),
  unsupported_for_policy: request(
    400,
    'A rule of the policy cannot judge a stream: send the request with "stream": false.',
  ),
  streaming_refused: request(400, 'The binding of this model refuses streams: send the request with "stream": false.'),
  unjudged_text: request(
    400,
    'The request has text that the binding of this model does not judge, and the binding refuses such requests.',
  ),
  unauthenticated: { status: 401, type: 'authentication_error', message: 'The API key is missing or wrong.' },
  policy_denied: { status: 403, type: 'guardrail_blocked', message: denyText },
  model_forbidden: {
    status: 403,
    type: 'permission_error',
    message: 'The key or token of the client does not name this model.',
  },
  model_disabled: { status: 403, type: 'permission_error', message: 'The model is switched off.' },
  model_not_found: request(404, 'No model has this name.'),
  not_found: request(404, 'The path does not exist.'),
  operation_not_offered: request(
    404,
    'The provider of this model does not offer this operation: use /v1/chat/completions.',
  ),
  method_not_allowed: request(405, 'The method is not allowed for this path.'),
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message: 'The rate limit of this API key is exceeded: repeat the request after the seconds in retry-after.',
  },
  request_timeout: request(408, 'The body of the request did not arrive in time.'),
  path_too_long: request(414, 'The path and query of the request are longer than 8,192 bytes.'),
  headers_too_large: request(431, 'The request line and headers are larger than 16,384 bytes.'),
  body_too_large: request(413, 'The body of the request is too large.'),
  too_many_checks: request(
    413,
    'The texts of the request need more than 1,024 checks: send fewer or shorter texts in one request.',
  ),
  unsupported_media: request(415, 'The request must have the content type application/json and no content encoding.'),
  upstream_refused: upstream(400, 'The model provider refused the request.'),
  upstream_rate_limited: upstream(429, 'The rate limit of the model provider is exceeded.'),
  upstream_failed: upstream(502, 'The model provider answered with an error.'),
  upstream_unreachable: upstream(502, 'The model provider cannot be reached.'),
  upstream_invalid: upstream(502, 'The answer of the model provider cannot be checked.'),
  unjudged_answer: upstream(
    502,
    'The answer has text that the binding of this model does not judge, and the binding refuses such answers.',
  ),
  upstream_broken: upstream(502, 'The connection to the model provider ended before the answer was complete.'),
  upstream_too_large: upstream(502, 'The answer of the model provider is too large to be checked.'),
  upstream_overloaded: upstream(503, 'The model provider is overloaded.'),
  upstream_timeout: upstream(504, 'The model provider did not answer in time.'),
  model_unavailable: unavailable('This replica does not serve the model yet, or two bindings claim its name.'),
  identity_unavailable: unavailable('The keys that verify the token of the client cannot be read.'),
  overloaded: unavailable('The gateway is overloaded.'),
  shutting_down: unavailable('The gateway is shutting down.'),
  internal: { status: 500, type: 'internal_error', message: 'The gateway failed because of an internal error.' },
} as const satisfies Record<RequestRefusalCode, object> & Record<string, object>;

export type ClientErrorCode = keyof typeof clientErrors;

/**
 * The failed check that only the gateway can detect: the masked text of a structured answer is no longer valid JSON.
 */
export const unreadableMask = 'structured_answer_unreadable';

/** The error that a client receives. The `code` of a failed check comes from the runtime or from `libraries/checks`. */
export type ClientError =
  | { readonly kind: 'plain'; readonly code: ClientErrorCode; readonly param?: string | null }
  | {
      readonly kind: 'check_failed';
      readonly code: CheckFailure | typeof unreadableMask;
      /** Counts of a check that was not sent, because it would exceed a limit. */
      readonly excess?: Excess;
    }
  /**
   * The texts of a request exceed a limit of one check, so that the request was not checked. `isOneText`: a single text
   * exceeds the limit, so that splitting the conversation does not help.
   */
  | { readonly kind: 'too_long'; readonly code: CheckFailure; readonly excess: Excess; readonly isOneText: boolean };

export function plainError(code: ClientErrorCode, param: string | null = null): ClientError {
  return { kind: 'plain', code, param };
}
