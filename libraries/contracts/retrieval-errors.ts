const failure = <const S extends number>(status: S, meaning: string) => ({ status, meaning }) as const;

/**
 * Every error of the retrieval service. `meaning` is the first sentence of the message; problems of a body follow it with
 * their paths. No message repeats a part of a request.
 */
export const retrievalErrors = {
  invalid_document: failure(400, 'The request is not valid.'),
  unauthorized: failure(401, 'The identity of the caller is missing, expired or not valid here.'),
  forbidden: failure(403, 'The caller does not have the right that this request needs.'),
  not_found: failure(404, 'There is no such path, or no such object in this tenant.'),
  method_not_allowed: failure(405, 'The method is not allowed for this path.'),
  conflict: failure(409, 'The state of the collection does not allow this request.'),
  index_full: failure(
    409,
    'The collection fills the index: delete documents, divide it, or ask the operator for a larger index.',
  ),
  too_large: failure(413, 'The request is larger than the limit.'),
  unsupported_media_type: failure(415, 'The body must be declared as application/json, without a content encoding.'),
  rate_limited: failure(429, 'The tenant has reached a quota: repeat the request later.'),
  internal: failure(500, 'The service failed; its log has the trace id.'),
  authz_unavailable: failure(503, 'The authorization service or the identity provider does not answer: repeat later.'),
  unavailable: failure(
    503,
    'A dependency of the service does not answer, or the service has reached its limit of bytes of requests: repeat the request later.',
  ),
} as const;

export type RetrievalErrorCode = keyof typeof retrievalErrors;
