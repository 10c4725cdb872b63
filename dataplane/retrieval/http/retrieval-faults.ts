import type { FaultCodes } from '#api/operation';
import type { RetrievalErrorCode } from '#contracts/retrieval-errors';

/** The codes of this API for the faults that every API can meet. No operation takes an Idempotency-Key. */
export const retrievalFaults: FaultCodes<RetrievalErrorCode> = {
  malformedRequest: 'invalid_document',
  headersTooLarge: 'too_large',
  expectationFailed: 'invalid_document',
  notFound: 'not_found',
  methodNotAllowed: 'method_not_allowed',
  invalidQuery: 'invalid_document',
  invalidPath: 'not_found',
  unsupportedMediaType: 'unsupported_media_type',
  bodyTooLarge: 'too_large',
  requestTimeout: 'invalid_document',
  idempotencyKeyMissing: 'invalid_document',
  idempotencyKeyInvalid: 'invalid_document',
  idempotencyKeyReused: 'conflict',
  idempotencyInProgress: 'conflict',
  internal: 'internal',
};
