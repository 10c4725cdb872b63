/** The wire format of the runtime, written from the obligations in e2e/requirements and not taken from the source. */

/** Codes and their statuses (`guardrail:errors:*`). */
export const wireStatuses = {
  invalid_json: 400,
  unauthenticated: 401,
  untrusted_context: 403,
  not_found: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  unsupported_media: 415,
  invalid_payload: 422,
  message_limit: 422,
  policy_unavailable: 503,
  overloaded: 503,
  stage_timeout: 503,
  rule_timeout: 503,
  provider_unavailable: 503,
  provider_invalid_answer: 503,
  verdict_undefined: 503,
  verdict_refused: 503,
  invalid_replacement: 503,
  match_limit: 503,
  output_too_large: 503,
  engine_failure: 503,
  internal: 503,
} as const;

export type Code = keyof typeof wireStatuses;

export function isCode(text: string): text is Code {
  return Object.hasOwn(wireStatuses, text);
}

/** The body of a deny (`guardrail:result:reject-body-text`). */
export const wireDenyText = 'Запрос отклонён политикой';

/** Context headers in the order of the contract; the last header is the response mode. */
export const wireContextHeaders = [
  'x-ap-gr-policy-id',
  'x-ap-gr-policy-revision',
  'x-ap-gr-bundle-digest',
  'x-ap-gr-content-profile',
  'x-ap-gr-response-mode',
] as const;

/** The profile that requires the response mode (`guardrail:versioning:current-profile`). */
export const profile = 'gateway-1.5.0-chat-webhook-v2';

/** Media type of each page. */
export const pages: Readonly<Record<string, RegExp>> = {
  '/readyz': /^application\/json$/,
  '/metrics': /^text\/plain; version=0\.0\.4; charset=utf-8$/,
  '/openapi.json': /^application\/json$/,
  '/docs': /^text\/html; charset=utf-8$/,
};
