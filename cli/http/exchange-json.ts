import { setTimeout as pause } from 'node:timers/promises';
import { readBounded } from '#kit/http/read-bounded';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { patientFetch } from './patient-fetch.ts';

/** A JSON request to an API. */
export type JsonRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Ends the request early. */
  readonly signal?: AbortSignal | undefined;
};

export type JsonAnswer = {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; undefined if the body is not JSON. */
  readonly json: unknown;
  /** Whether the body had more than `mostAnswerBytes`, so that it was not read. */
  readonly isTooLarge: boolean;
};

/** Largest response body in bytes. */
export const mostAnswerBytes = 16_777_216;

const firstPauseMs = 200;
const longestPauseMs = 2_000;

/**
 * Sends one request. Redirects are not followed, because the credentials are for this origin only.
 * @throws the error of fetch if no answer arrives within `ms`
 */
export async function exchangeJson(
  origin: string,
  { method, path, headers = {}, body, signal }: JsonRequest,
  ms: number,
): Promise<JsonAnswer> {
  const content = body === undefined ? {} : { 'content-type': 'application/json' };
  const request = {
    method,
    headers: { ...headers, ...content },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.any([AbortSignal.timeout(Math.ceil(ms)), ...(signal === undefined ? [] : [signal])]),
  };
  const answer = await patientFetch(`${origin}${path}`, request, ms);
  const bytes = answer.body === null ? Buffer.alloc(0) : await readBounded(answer.body, mostAnswerBytes);
  const { ok, status, headers: answered } = answer;
  return {
    ok,
    status,
    headers: answered,
    json: bytes === undefined ? undefined : jsonOrUndefined(bytes),
    isTooLarge: bytes === undefined,
  };
}

/** Repeats a request with growing pauses until it succeeds, fails in another way, or `timeoutMs` are over. */
export async function repeatUntilAnswered<T>(
  send: (remainingMs: number) => Promise<T>,
  isRetryable: (error: unknown) => boolean,
  timeoutMs: number,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await send(Math.max(1, end - performance.now()));
    } catch (error) {
      if (!isRetryable(error) || performance.now() + pauseMs >= end) throw error;
    }
    await pause(pauseMs);
  }
}
