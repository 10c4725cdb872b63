import { z } from 'zod';
import { exchangeJson, type JsonRequest, mostAnswerBytes, repeatUntilAnswered } from './exchange-json.ts';
import { ServiceAnswerError, ServiceApiError, ServiceUnreachableError } from './service-error.ts';

export type ServiceConnection = {
  /** Name of the service in messages. */
  readonly service: string;
  readonly origin: string;
  /** Headers that name the caller, read for every request: a bearer token, or the names of development mode. */
  readonly identity: () => Promise<Readonly<Record<string, string>>>;
  /** Timeout of one call with its retries, in milliseconds. */
  readonly timeoutMs: number;
  /** Reads the error of an answer if its body differs from that of the other services. */
  readonly readError?: (json: unknown) => ServiceErrorBody | undefined;
};

type ServiceErrorBody = { readonly code: string; readonly message: string; readonly traceId: string };

type Send = <T>(
  method: JsonRequest['method'],
  path: string,
  schema: z.ZodType<T>,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<T>;

/** The error body that the services of the data plane share. */
const serviceErrorSchema = z.strictObject({ code: z.string(), message: z.string(), trace_id: z.string() });

/**
 * Sends requests, retries those without an answer, and validates every answer. The call throws ServiceApiError,
 * ServiceUnreachableError and ServiceAnswerError.
 */
export function createServiceCalls(connection: ServiceConnection): Send {
  return (method, path, schema, body, headers = {}) =>
    repeatUntilAnswered(
      (ms) => sendOnce(connection, { method, path, headers, ...(body === undefined ? {} : { body }) }, schema, ms),
      isRetryable,
      connection.timeoutMs,
    );
}

function isRetryable(error: unknown): boolean {
  if (error instanceof ServiceUnreachableError) return true;
  return error instanceof ServiceApiError && (error.status === 503 || error.status === 429);
}

async function sendOnce<T>(
  { service, origin, identity, readError = readSharedError }: ServiceConnection,
  request: JsonRequest,
  schema: z.ZodType<T>,
  ms: number,
): Promise<T> {
  const headers = { ...request.headers, ...(await identity()) };
  const answer = await exchangeJson(origin, { ...request, headers }, ms).catch((cause: unknown) => {
    throw new ServiceUnreachableError(service, origin, cause);
  });
  if (answer.isTooLarge) throw new ServiceAnswerError(service, origin, `more than ${mostAnswerBytes} bytes`);
  if (answer.ok) {
    const read = schema.safeParse(answer.json);
    if (read.success) return read.data;
    throw new ServiceAnswerError(service, origin, `${read.error.issues[0]?.path.join('.') || 'the body'} is not valid`);
  }
  const failure = readError(answer.json);
  if (failure === undefined) throw new ServiceAnswerError(service, origin, `status ${answer.status} without an error`);
  throw new ServiceApiError(answer.status, failure);
}

function readSharedError(json: unknown): ServiceErrorBody | undefined {
  const read = serviceErrorSchema.safeParse(json);
  return read.success ? { code: read.data.code, message: read.data.message, traceId: read.data.trace_id } : undefined;
}
