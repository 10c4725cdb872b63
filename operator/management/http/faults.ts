import { type ApiError, type FaultCodes, failure } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';

/** The error codes of this API for faults that are common to all APIs. */
export const faults: FaultCodes<ManagementErrorCode> = {
  malformedRequest: 'invalid_json',
  headersTooLarge: 'headers_too_large',
  expectationFailed: 'expectation_failed',
  notFound: 'not_found',
  methodNotAllowed: 'method_not_allowed',
  invalidQuery: 'invalid_query',
  invalidPath: 'invalid_path_id',
  unsupportedMediaType: 'unsupported_media_type',
  bodyTooLarge: 'body_too_large',
  requestTimeout: 'request_timeout',
  idempotencyKeyMissing: 'idempotency_key_missing',
  idempotencyKeyInvalid: 'idempotency_key_invalid',
  idempotencyKeyReused: 'idempotency_key_reused',
  idempotencyInProgress: 'idempotency_in_progress',
  internal: 'internal',
};

/**
 * The server of the resources refused the write because of its rules of access or admission, or because it has no space
 * left.
 */
export const deniedByServer: ApiError<ManagementErrorCode> = { ...failure('resources_unavailable'), isDecided: true };
