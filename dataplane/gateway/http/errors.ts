import { denyText } from '#contracts/checks';
import type { ClientError, ClientErrorCode } from '../relay/client-error.ts';

type Entry = { readonly status: number; readonly type: string; readonly message: string };

/**
 * Every error that a client of the gateway can get, but for failed checks: code, status, type and sentence.
 * The body has the shape of the OpenAI API; no sentence repeats anything of a request or of a provider.
 */
export const clientErrors = {
  invalid_json: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request is not HTTP or strict JSON in UTF-8 that can be read; repeated keys are refused.',
  },
  invalid_request: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A member of the request is missing or has the wrong shape.',
  },
  unknown_key: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request holds a member that this model does not accept.',
  },
  ambiguous_key: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request holds a member whose name differs from a known one only in letter case.',
  },
  unsupported_value: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request asks for something that cannot be checked.',
  },
  unsupported_for_profile: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The content profile of this model allows text only: no stream, no tools and no other parts.',
  },
  unsupported_for_policy: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A rule of the policy cannot judge a stream: ask with "stream": false.',
  },
  unauthenticated: { status: 401, type: 'authentication_error', message: 'The API key is missing or wrong.' },
  policy_denied: { status: 403, type: 'guardrail_blocked', message: denyText },
  model_disabled: { status: 403, type: 'permission_error', message: 'The model is switched off.' },
  model_not_found: { status: 404, type: 'invalid_request_error', message: 'There is no model of this name.' },
  not_found: { status: 404, type: 'invalid_request_error', message: 'There is no such path.' },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'The path does not answer to this method.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    message: 'The body of the request did not arrive in time.',
  },
  body_too_large: { status: 413, type: 'invalid_request_error', message: 'The body of the request is too large.' },
  unsupported_media: {
    status: 415,
    type: 'invalid_request_error',
    message: 'The body has to be declared as application/json, without a content encoding.',
  },
  upstream_refused: { status: 400, type: 'upstream_error', message: 'The model provider refused the request.' },
  upstream_rate_limited: { status: 429, type: 'upstream_error', message: 'The model provider limits its rate.' },
  upstream_failed: { status: 502, type: 'upstream_error', message: 'The model provider answered with an error.' },
  upstream_unreachable: { status: 502, type: 'upstream_error', message: 'The model provider cannot be reached.' },
  upstream_invalid: {
    status: 502,
    type: 'upstream_error',
    message: 'The model provider answered with something that cannot be checked.',
  },
  upstream_broken: {
    status: 502,
    type: 'upstream_error',
    message: 'The connection to the model provider ended before the answer was complete.',
  },
  upstream_too_large: {
    status: 502,
    type: 'upstream_error',
    message: 'The model provider answered with more than can be held for a check.',
  },
  upstream_overloaded: { status: 503, type: 'upstream_error', message: 'The model provider is overloaded.' },
  upstream_timeout: { status: 504, type: 'upstream_error', message: 'The model provider did not answer in time.' },
  model_unavailable: {
    status: 503,
    type: 'service_unavailable',
    message: 'This replica does not serve the model yet, or two bindings claim it.',
  },
  overloaded: { status: 503, type: 'service_unavailable', message: 'The gateway handles as much as it can.' },
  shutting_down: { status: 503, type: 'service_unavailable', message: 'The gateway is shutting down.' },
  internal: { status: 500, type: 'internal_error', message: 'The gateway failed.' },
} as const satisfies Record<ClientErrorCode, Entry>;

export type ErrorAnswer = {
  readonly status: number;
  /** Whether the official clients are told not to ask again. */
  readonly final: boolean;
  readonly body: Buffer;
};

const checkFailedMessage = 'The guardrail check was not completed, so the text is not passed on.';

/** The answer to an error; in a stream its body is the frame's data. */
export function errorAnswer(error: ClientError): ErrorAnswer {
  if (error.kind === 'check_failed') {
    return answer(503, true, { message: checkFailedMessage, type: 'guardrail_error', param: null, code: error.code });
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
