const failure = <const S extends number>(status: S, meaning: string) => ({ status, meaning }) as const;

/** Every error of the agent catalogue (`catalogue:error:*`). No message repeats a part of a request or of a record. */
export const catalogueErrors = {
  invalid_request: failure(400, 'The request is not valid.'),
  cursor_invalid: failure(400, 'The cursor is not valid for this caller and these filters: read the first page again.'),
  unauthenticated: failure(401, 'The identity of the caller is missing, expired or not valid here.'),
  forbidden: failure(403, 'The token is not valid for this tenant.'),
  not_found: failure(404, 'There is no such path, or the caller has no such agent.'),
  method_not_allowed: failure(405, 'The method is not allowed for this path: the catalogue is read-only.'),
  identity_conflict: failure(
    409,
    'Two resources claim the id of this agent: it is not shown until one of them is gone.',
  ),
  too_large: failure(413, 'The request is larger than the limit.'),
  unsupported_media_type: failure(415, 'The body must be declared as application/json, without a content encoding.'),
  rate_limited: failure(429, 'The caller has reached a limit of requests: repeat the request later.'),
  internal: failure(500, 'The service failed; its log has the trace id.'),
  authorization_unavailable: failure(503, 'The store of rights does not answer: repeat the request later.'),
  identity_unavailable: failure(503, 'The identity provider does not answer: repeat the request later.'),
  database_unavailable: failure(503, 'The database does not answer: repeat the request later.'),
  search_unavailable: failure(503, 'The search does not answer: repeat the request later.'),
  not_ready: failure(503, 'The service is not ready.'),
  dependency_timeout: failure(504, 'A dependency of the service did not answer in time: repeat the request later.'),
} as const;

export type CatalogueErrorCode = keyof typeof catalogueErrors;
