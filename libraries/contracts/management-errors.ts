const failure = <const S extends number>(status: S, meaning: string) => ({ status, meaning }) as const;

/**
 * Every error of the policy management API. The meaning is the message of the answer and repeats no text of a request.
 */
export const managementErrors = {
  invalid_json: failure(
    400,
    'The request is not HTTP or strict JSON in UTF-8 that can be read; repeated keys are refused.',
  ),
  invalid_query: failure(400, 'A query parameter is unknown, sent twice or outside of its values.'),
  invalid_path_id: failure(400, 'An id in the path is not a UUID of version 7, or a number in it is not one.'),
  cursor_invalid: failure(400, 'The cursor does not belong to this list: begin again without a cursor.'),
  idempotency_key_missing: failure(400, 'Send a header Idempotency-Key: a new one for each new change.'),
  idempotency_key_invalid: failure(
    400,
    'Idempotency-Key takes 16 to 128 characters of A-Z, a-z, 0-9, dot, underscore, tilde and hyphen, once.',
  ),
  if_match_invalid: failure(400, 'If-Match is not an entity tag: send the ETag of the latest read as it is.'),
  unauthenticated: failure(401, 'The platform token is missing, sent twice, expired or not valid for this API.'),
  permission_denied: failure(403, 'The subject does not have the permission control_plane:control-plane#administer.'),
  not_found: failure(404, 'There is no such path.'),
  policy_not_found: failure(404, 'There is no such policy.'),
  revision_not_found: failure(404, 'There is no such revision of the policy.'),
  model_not_found: failure(404, 'There is no such model.'),
  approval_not_found: failure(404, 'There is no such request, or it has expired or was used.'),
  freeze_not_found: failure(404, 'There is no such freeze window, or it has ended.'),
  operation_not_found: failure(404, 'There is no such operation, or it was removed after its retention.'),
  revision_purged: failure(410, 'The text of the revision was removed: its number and digest are in the history.'),
  method_not_allowed: failure(405, 'The method is not allowed for this path.'),
  request_timeout: failure(408, 'The request did not arrive in time.'),
  idempotency_key_reused: failure(409, 'The Idempotency-Key belongs to another command: a new change takes a new key.'),
  idempotency_in_progress: failure(
    409,
    'The same command is still being carried out: repeat it later with the same key.',
  ),
  policy_archived: failure(
    409,
    'The policy is archived and cannot be newly applied: restore it by a revision with status draft.',
  ),
  policy_deleting: failure(
    409,
    'The policy is being deleted: it cannot be applied. A PUT of the policy cancels the deletion.',
  ),
  policy_revision_unknown: failure(409, 'There is no such policy, or it has no such revision.'),
  policy_revision_purged: failure(
    409,
    'The text of the revision was removed: it cannot be applied. Apply another one.',
  ),
  approval_required: failure(
    409,
    'A second person must approve the command; details name the request. Repeat the command after the approval.',
  ),
  approval_of_requester: failure(409, 'The person who sent the command cannot approve it.'),
  change_frozen: failure(
    409,
    'A freeze window of the policy or model is open; details name its end. Repeat the command after it.',
  ),
  freeze_quota_reached: failure(409, 'There are 500 freeze windows that have not ended: remove some.'),
  revision_in_use: failure(409, 'The revision is in use, so its text cannot be removed; details name each use.'),
  last_administrator: failure(
    409,
    'The right belongs to the last administrator: grant it to another user first. A group counts only if you are in it.',
  ),
  model_deleting: failure(409, 'The model is being deleted: no policy can be applied to it.'),
  policy_quota_reached: failure(
    409,
    'The quota of policies of the installation is reached: delete some, or raise PORTCULLIS_MAX_POLICIES.',
  ),
  revision_quota_reached: failure(
    409,
    'The quota of policy revisions of the installation is reached: raise PORTCULLIS_MAX_REVISIONS.',
  ),
  storage_quota_reached: failure(
    409,
    'The quota of bytes of policy revisions of the installation is reached: raise PORTCULLIS_MAX_REVISION_MIB.',
  ),
  etag_mismatch: failure(
    412,
    'If-Match is not the current ETag of the resource: read it again, and repeat the change with a new key.',
  ),
  body_too_large: failure(413, 'The body holds more than 1 MiB.'),
  unsupported_media_type: failure(415, 'Send the body as application/json, without a content encoding.'),
  expectation_failed: failure(417, 'The only supported value of Expect is 100-continue.'),
  invalid_body: failure(422, 'The body has the wrong shape; details name each member.'),
  definition_too_large: failure(
    422,
    'The definition exceeds the size of a revision: split the policy or shorten its lists.',
  ),
  diff_too_large: failure(
    422,
    'Both revisions together have more than 512 KiB: "portcullis diff" compares them on the machine of the caller.',
  ),
  if_match_missing: failure(428, 'Send a header If-Match with the ETag of the latest read.'),
  rate_limited: failure(429, 'The subject sent more requests than it may send in a minute: repeat the request later.'),
  headers_too_large: failure(431, 'The headers of the request are too large.'),
  internal: failure(500, 'The request failed because of an internal error.'),
  identity_unavailable: failure(
    503,
    'Tokens cannot be verified at present, so every request is refused: repeat it later.',
  ),
  authorization_unavailable: failure(
    503,
    'Permissions cannot be read at present, so every request is refused: repeat it later.',
  ),
  resources_unavailable: failure(
    503,
    'The server of the resources does not answer. Repeat the request; repeat a command with the same Idempotency-Key.',
  ),
  records_unavailable: failure(
    503,
    'The database of the operations does not answer. Repeat the request; repeat a command with the same Idempotency-Key.',
  ),
  revision_pending: failure(503, 'An earlier change of the policy is still being recorded: repeat the request later.'),
};

export type ManagementErrorCode = keyof typeof managementErrors;

/**
 * Why an operation failed. The codes of an application are the failure reasons of the operator.
 */
export const operationFailures = {
  superseded: 'A later change replaced this one before its outcome was observed.',
  progress_deadline_exceeded: 'Not every gateway replica confirmed in time; the application may still complete.',
  lost_in_restore: 'The resource was restored or created again without the change of the command.',
  revision_lost: 'A later change was recorded first, so this one has no revision.',
  not_executed: 'The command was not carried out: nothing was changed.',
  policy_archived: 'The policy was archived before it was applied.',
  policy_revision_unknown: 'The policy or its revision does not exist.',
  profile_unsupported: 'The runtime does not support the content profile.',
  bundle_invalid: 'A rule does not compile or the bundle is too large.',
  rule_too_costly: 'A local rule could take longer than its share of the time budget.',
  policy_tests_failed: 'A test of the policy got another decision than it expects.',
  provider_unknown: 'A provider is not approved in this environment, or with another credential.',
  provider_unavailable: 'A provider that an enforced rule names does not answer.',
  replica_rejected: 'A gateway replica rejected the route; the previous guarded application was restored.',
} as const satisfies Record<string, string>;

export type OperationFailureCode = keyof typeof operationFailures;
