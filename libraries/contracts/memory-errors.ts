const failure = <const S extends number>(status: S, meaning: string) => ({ status, meaning }) as const;

/**
 * Every error of the memory service. `meaning` is the first sentence of the message; problems of a body follow it with
 * their paths. No message repeats a part of a request.
 */
export const memoryErrors = {
  invalid_request: failure(400, 'The request is not valid.'),
  policy_denied: failure(400, 'The guardrail denies the text: nothing was stored and nothing was searched.'),
  unjudgeable_text: failure(400, 'The guardrail cannot judge the text, or cannot mask it: shorten or split the text.'),
  missing_scope: failure(400, 'The request names no scope: send agent_id, run_id or both.'),
  missing_filter: failure(400, 'The request names no filter: send agent_id, run_id or user_id.'),
  unauthorized: failure(401, 'The identity of the caller is missing, expired or not valid here.'),
  forbidden: failure(403, 'The token is not valid for this tenant.'),
  wrong_user_id: failure(403, 'Wrong user ID.'),
  not_found: failure(404, 'There is no such path, or the caller has no such object.'),
  method_not_allowed: failure(405, 'The method is not allowed for this path.'),
  conflict: failure(409, 'The idempotency key was used for another request.'),
  index_full: failure(
    409,
    'The memories of the user fill the index: delete memories, or ask the operator for a larger index.',
  ),
  history_too_large: failure(
    409,
    'The history of the memory exceeds the size of an answer: read it in the pages of the export.',
  ),
  too_large: failure(413, 'The request is larger than the limit.'),
  unsupported_media_type: failure(415, 'The body must be declared as application/json, without a content encoding.'),
  rate_limited: failure(429, 'A quota of the user or of the tenant is reached: repeat the request later.'),
  internal: failure(500, 'The service failed; its log has the trace id.'),
  authz_unavailable: failure(503, 'The identity provider does not answer: repeat the request later.'),
  unavailable: failure(
    503,
    'A dependency of the service does not answer, or the service has reached its limit of bytes of requests: repeat the request later.',
  ),
} as const;

export type MemoryErrorCode = keyof typeof memoryErrors;
