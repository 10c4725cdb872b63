import type { CheckFailure } from '#checks/check-outcome';
import { denyText } from '#contracts/checks';
import type { ClientError, ClientErrorCode } from '../relay/client-error.ts';

type Entry = { readonly status: number; readonly type: string; readonly message: string };

/**
 * Every error of the gateway except failed checks: code, status, type and message. The body has the shape of the
 * OpenAI API; no message repeats text of a request or of a provider.
 */
export const clientErrors = {
  invalid_json: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request is not valid HTTP, or its body is not strict JSON in UTF-8 without repeated keys.',
  },
  invalid_request: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A member of the request is missing or has the wrong type.',
  },
  unknown_key: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request has a member that this model does not accept.',
  },
  ambiguous_key: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request has a member whose name differs from a known one only in letter case.',
  },
  unsupported_value: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request asks for an answer that cannot be checked.',
  },
  unsupported_for_profile: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The content profile of this model allows text only: no streaming, no tools and no other content parts.',
  },
  unsupported_for_policy: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A rule of the policy cannot judge a stream: send the request with "stream": false.',
  },
  unauthenticated: { status: 401, type: 'authentication_error', message: 'The API key is missing or wrong.' },
  policy_denied: { status: 403, type: 'guardrail_blocked', message: denyText },
  model_disabled: { status: 403, type: 'permission_error', message: 'The model is switched off.' },
  model_not_found: { status: 404, type: 'invalid_request_error', message: 'No model has this name.' },
  not_found: { status: 404, type: 'invalid_request_error', message: 'The path does not exist.' },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'The method is not allowed for this path.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    message: 'The body of the request did not arrive in time.',
  },
  path_too_long: {
    status: 414,
    type: 'invalid_request_error',
    message: 'The path and query of the request are longer than 8,192 bytes.',
  },
  headers_too_large: {
    status: 431,
    type: 'invalid_request_error',
    message: 'The request line and headers are larger than 16,384 bytes.',
  },
  body_too_large: { status: 413, type: 'invalid_request_error', message: 'The body of the request is too large.' },
  unsupported_media: {
    status: 415,
    type: 'invalid_request_error',
    message: 'The request must have the content type application/json and no content encoding.',
  },
  upstream_refused: { status: 400, type: 'upstream_error', message: 'The model provider refused the request.' },
  upstream_rate_limited: {
    status: 429,
    type: 'upstream_error',
    message: 'The rate limit of the model provider is exceeded.',
  },
  upstream_failed: { status: 502, type: 'upstream_error', message: 'The model provider answered with an error.' },
  upstream_unreachable: { status: 502, type: 'upstream_error', message: 'The model provider cannot be reached.' },
  upstream_invalid: {
    status: 502,
    type: 'upstream_error',
    message: 'The answer of the model provider cannot be checked.',
  },
  upstream_broken: {
    status: 502,
    type: 'upstream_error',
    message: 'The connection to the model provider ended before the answer was complete.',
  },
  upstream_too_large: {
    status: 502,
    type: 'upstream_error',
    message: 'The answer of the model provider is too large to be held for a check.',
  },
  upstream_overloaded: { status: 503, type: 'upstream_error', message: 'The model provider is overloaded.' },
  upstream_timeout: { status: 504, type: 'upstream_error', message: 'The model provider did not answer in time.' },
  model_unavailable: {
    status: 503,
    type: 'service_unavailable',
    message: 'This replica does not serve the model yet, or two bindings claim its name.',
  },
  overloaded: { status: 503, type: 'service_unavailable', message: 'The gateway is overloaded.' },
  shutting_down: { status: 503, type: 'service_unavailable', message: 'The gateway is shutting down.' },
  internal: { status: 500, type: 'internal_error', message: 'The gateway failed because of an internal error.' },
} as const satisfies Record<ClientErrorCode, Entry>;

type ErrorAnswer = {
  readonly status: number;
  /** Whether `x-should-retry: false` tells the official clients not to retry; without it they retry 408, 429 and 5xx. */
  readonly final: boolean;
  readonly body: Buffer;
};

/**
 * Failed checks that a retry may not meet again: the runtime restarts, has another bundle for a moment, or was too busy or
 * too slow. Every other failed check gives the same result for the same text, or gives a doubtful verdict a second try.
 */
const transientFailures: ReadonlySet<string> = new Set<CheckFailure>([
  'network',
  'timeout',
  'no_address',
  'overloaded',
  'policy_unavailable',
  'stage_timeout',
  'rule_timeout',
  'provider_unavailable',
]);

const checkFailedMessage = 'The guardrail check was not completed, so the text is not passed on.';

/** The answer to an error; in a stream its body is the data of the last frame (docs/decisions/0003). */
export function errorAnswer(error: ClientError): ErrorAnswer {
  if (error.kind === 'check_failed') {
    const final = !transientFailures.has(error.code);
    return answer(503, final, { message: checkFailedMessage, type: 'guardrail_error', param: null, code: error.code });
  }
  const { status, type, message } = clientErrors[error.code];
  return answer(status, error.code === 'policy_denied', {
    message,
    type,
    param: error.param ?? null,
    code: error.code,
  });
}

function answer(
  status: number,
  final: boolean,
  error: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string },
): ErrorAnswer {
  return { status, final, body: Buffer.from(JSON.stringify({ error }), 'utf8') };
}
