import type { ApiTable, ErrorDetail, FaultCodes } from './operation.ts';

/** The gates of an operation that reads, and of an operation with a body, in the usual order. */
export const readGates = ['identity', 'query', 'path'] as const;
export const writeGates = [...readGates, 'body'] as const;

/** The successful answer of an operation with the header X-Trace-Id. */
export function tracedAnswer<Schema extends string, Status extends 200 | 201 | 202 = 200>(
  schema: Schema,
  status?: Status,
) {
  return { status: status ?? 200, description: 'The request succeeded.', schema, headers: ['X-Trace-Id'] } as const;
}

type UsualCode = 'too_large' | 'not_found' | 'method_not_allowed' | 'unsupported_media_type' | 'conflict' | 'internal';

/** The usual codes of faults. @param invalid the code for a request that is not valid */
export function usualFaults<Invalid extends string>(invalid: Invalid): FaultCodes<Invalid | UsualCode> {
  return {
    malformedRequest: invalid,
    headersTooLarge: 'too_large',
    expectationFailed: invalid,
    notFound: 'not_found',
    methodNotAllowed: 'method_not_allowed',
    invalidQuery: invalid,
    invalidPath: 'not_found',
    unsupportedMediaType: 'unsupported_media_type',
    bodyTooLarge: 'too_large',
    requestTimeout: invalid,
    idempotencyKeyMissing: invalid,
    idempotencyKeyInvalid: invalid,
    idempotencyKeyReused: 'conflict',
    idempotencyInProgress: 'conflict',
    internal: 'internal',
  };
}

/** The message of an error: each problem with its path, or the meaning of the code. */
export function errorMessage(meaning: string, details: readonly ErrorDetail[] = []): string {
  const problems = details.map(({ path, message }) => (path === '' ? `the body ${message}` : `${path} ${message}`));
  return problems.length === 0 ? meaning : `${problems.join('; ')}.`;
}

/**
 * The members of a table whose errors have the body `{ code, message, trace_id }` with all details in the message, and
 * the header X-Trace-Id.
 */
export const tracedErrors = {
  traceHeader: 'x-trace-id',
  namesParameters: true,
  errorBody: ({ code, message, traceId, details }) => ({
    code,
    message: errorMessage(message, details),
    trace_id: traceId,
  }),
} as const satisfies Pick<ApiTable<never, never, string>, 'traceHeader' | 'namesParameters' | 'errorBody'>;
