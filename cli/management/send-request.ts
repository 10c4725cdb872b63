import type { z } from 'zod';
import { type ManagementErrorBody, managementErrorSchema } from '#contracts/management';
import { tokenFault } from '../errors/token-fault.ts';
import {
  exchangeJson,
  type JsonAnswer,
  type JsonRequest,
  mostAnswerBytes,
  repeatUntilAnswered,
} from '../http/exchange-json.ts';
import { ManagementAnswerError, ManagementApiError, ManagementUnreachableError } from './management-error.ts';
import { roleRemedy } from './role-remedy.ts';

export type ManagementConnection = {
  readonly origin: string;
  /**
   * Returns a platform token. This function is called for every request, so that a long wait never uses an expired
   * token.
   */
  readonly token: () => Promise<string>;
  /** The file of the token; absent when the command line signs it. */
  readonly tokenFile?: string;
  /** Timeout of one call with its retries, in milliseconds. */
  readonly timeoutMs: number;
};

/** The body of a response and its ETag, if it has one. */
export type ReceivedResponse<T> = { readonly value: T; readonly etag: string | undefined };

/**
 * Sends a request, with retries until the timeout for a broken connection, a 503 and a command that is still running:
 * the same bytes with the same Idempotency-Key. Redirects are not followed.
 * @throws ManagementApiError, ManagementUnreachableError, ManagementAnswerError
 */
export async function sendRequest<T>(
  connection: ManagementConnection,
  call: JsonRequest,
  schema: z.ZodType<T>,
): Promise<ReceivedResponse<T>> {
  const send = (ms: number): Promise<ReceivedResponse<T>> => sendOnce(connection, call, schema, ms);
  return repeatUntilAnswered(send, isRetryable, connection.timeoutMs);
}

function isRetryable(error: unknown): boolean {
  if (error instanceof ManagementUnreachableError) return true;
  return error instanceof ManagementApiError && (error.status === 503 || error.code === 'idempotency_in_progress');
}

async function sendOnce<T>(
  connection: ManagementConnection,
  call: JsonRequest,
  schema: z.ZodType<T>,
  ms: number,
): Promise<ReceivedResponse<T>> {
  const { origin, token } = connection;
  const bearer = await token();
  const headers = { ...call.headers, authorization: `Bearer ${bearer}` };
  const answer = await exchangeJson(origin, { ...call, headers }, ms).catch((cause: unknown) => {
    throw new ManagementUnreachableError(origin, cause);
  });
  if (answer.isTooLarge) throw new ManagementAnswerError(origin, `more than ${mostAnswerBytes} bytes`);
  const { json } = answer;
  if (answer.ok) return answered(origin, answer, schema.safeParse(json));
  const failure = managementErrorSchema.safeParse(json);
  if (failure.success) {
    const { error } = failure.data;
    if (error.code === 'permission_denied') {
      // The message of the API names the largest right, whatever the request needs.
      const message = roleRemedy(call, { token: bearer, tokenFile: connection.tokenFile });
      throw new ManagementApiError(answer.status, { ...error, message }, '');
    }
    throw new ManagementApiError(answer.status, withCause(answer, error, bearer), remedyOf(answer.status, connection));
  }
  throw new ManagementAnswerError(origin, `status ${answer.status} without an error of the contract`);
}

/** The sentence about a refused token begins with the explanation from its times. */
function withCause({ status, headers }: JsonAnswer, error: ManagementErrorBody['error'], token: string) {
  if (status !== 401) return error;
  const fault = tokenFault(token, new Date(), headers.get('date') ?? undefined);
  const otherwise =
    'The API does not accept the token. It may be of another issuer or audience, or altered: get a new one.';
  return { ...error, message: fault ?? otherwise };
}

/** The remedy for a refused token; the API does not know the source of the token. */
function remedyOf(status: number, { tokenFile }: ManagementConnection): string {
  if (status !== 401) return '';
  return tokenFile === undefined
    ? 'The command line signed it itself: restart the platform, and check the clock of this machine.'
    : `Write a valid token into ${tokenFile}; "portcullis token" signs one for a platform on this machine.`;
}

function answered<T>(origin: string, { headers }: JsonAnswer, read: z.ZodSafeParseResult<T>): ReceivedResponse<T> {
  if (read.success) return { value: read.data, etag: headers.get('etag') ?? undefined };
  const [issue] = read.error.issues;
  throw new ManagementAnswerError(origin, `${issue?.path.join('.') || 'the body'} is not valid`);
}
