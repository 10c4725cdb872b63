import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { type ManagementErrorBody, managementErrorSchema } from '#contracts/management';
import { tokenFault } from '../errors/token-fault.ts';
import { ManagementAnswerError, ManagementApiError, ManagementUnreachableError } from './management-error.ts';

export type ManagementConnection = {
  readonly origin: string;
  /** Returns a platform token. It is called for every request, so that a long wait never uses an expired one. */
  readonly token: () => Promise<string>;
  /** The file of the token; absent when the command line signs it. */
  readonly tokenFile?: string;
  /** Timeout of one call with its retries, in milliseconds. */
  readonly timeoutMs: number;
};

type Call = {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** The body of a response and its ETag, if it has one. */
export type ReceivedResponse<T> = { readonly value: T; readonly etag: string | undefined };

const firstPauseMs = 200;
const longestPauseMs = 2_000;

/**
 * Sends a request, with retries until the timeout for a broken connection, a 503 and a command that is still running:
 * the same bytes with the same Idempotency-Key. Redirects are not followed.
 * @throws ManagementApiError, ManagementUnreachableError, ManagementAnswerError
 */
export async function sendRequest<T>(
  connection: ManagementConnection,
  call: Call,
  schema: z.ZodType<T>,
): Promise<ReceivedResponse<T>> {
  const end = performance.now() + connection.timeoutMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await sendOnce(connection, call, schema, Math.max(1, end - performance.now()));
    } catch (error) {
      if (!isRetryable(error) || performance.now() + pauseMs >= end) throw error;
    }
    await pause(pauseMs);
  }
}

function isRetryable(error: unknown): boolean {
  if (error instanceof ManagementUnreachableError) return true;
  return error instanceof ManagementApiError && (error.status === 503 || error.code === 'idempotency_in_progress');
}

async function sendOnce<T>(
  connection: ManagementConnection,
  { method, path, headers = {}, body }: Call,
  schema: z.ZodType<T>,
  ms: number,
): Promise<ReceivedResponse<T>> {
  const { origin, token } = connection;
  const bearer = await token();
  const authorization = `Bearer ${bearer}`;
  const content = body === undefined ? {} : { 'content-type': 'application/json' };
  let answer: Response;
  let bytes: Buffer | undefined;
  try {
    answer = await fetch(`${origin}${path}`, {
      method,
      headers: { ...headers, ...content, authorization },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(Math.ceil(ms)),
    });
    bytes = await readAnswerBytes(answer, mostAnswerBytes);
  } catch (cause) {
    throw new ManagementUnreachableError(origin, cause);
  }
  if (bytes === undefined) throw new ManagementAnswerError(origin, `more than ${mostAnswerBytes} bytes`);
  const json = parse(bytes);
  if (answer.ok) return answered(origin, answer, schema.safeParse(json));
  const failure = managementErrorSchema.safeParse(json);
  if (failure.success) {
    throw new ManagementApiError(
      answer.status,
      withCause(answer, failure.data.error, bearer),
      remedyOf(answer.status, connection),
    );
  }
  throw new ManagementAnswerError(origin, `status ${answer.status} without an error of the contract`);
}

/** The sentence of a refused token begins with what its times say. */
function withCause({ status, headers }: Response, error: ManagementErrorBody['error'], token: string) {
  if (status !== 401) return error;
  const fault = tokenFault(token, new Date(), headers.get('date') ?? undefined);
  const remedy = fault ?? 'The token is not one that this API accepts: check issuer and audience, or get a new one.';
  return { ...error, message: `${remedy} (${error.message})` };
}

/** What to do about a token that was refused: the API does not know where it comes from. */
function remedyOf(status: number, { tokenFile }: ManagementConnection): string {
  if (status === 401) {
    return tokenFile === undefined
      ? 'The command line signed it itself: restart the platform, and check the clock of this machine.'
      : `Write a valid token into ${tokenFile}; "portcullis token" signs one for a platform on this machine.`;
  }
  if (status === 403) {
    return tokenFile === undefined
      ? 'Ask an administrator for this right.'
      : `Write the token of an administrator into ${tokenFile}, or ask one for this right.`;
  }
  return '';
}

function answered<T>(origin: string, { headers }: Response, read: z.ZodSafeParseResult<T>): ReceivedResponse<T> {
  if (read.success) return { value: read.data, etag: headers.get('etag') ?? undefined };
  const [issue] = read.error.issues;
  throw new ManagementAnswerError(origin, `${issue?.path.join('.') || 'the body'} is not valid`);
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Largest response body in bytes: far more than the largest policy definition as JSON. */
const mostAnswerBytes = 16_777_216;

/** The body of a response; undefined if it is larger than `most` bytes. */
async function readAnswerBytes(answer: Response, most: number): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > most) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
