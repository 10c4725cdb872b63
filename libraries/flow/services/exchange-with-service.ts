import { request } from 'undici';
import type { z } from 'zod';
import type { FlowErrorCode } from '#contracts/flow-errors';
import { flowLimits } from '#contracts/flow-limits';
import { neverConnected } from '#kit/http/never-connected';
import { readBounded } from '#kit/http/read-bounded';
import { PortError } from '../engine/flow-error.ts';

type PortErrorCode = PortError['code'] & FlowErrorCode;

type ServiceCall = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The content of a POST; a request without a body is a GET. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
  /** Takes the headers of the answer, whatever its status. */
  readonly onHeaders?: (headers: Readonly<Record<string, string | string[] | undefined>>) => void;
  /** Returns the error for a response whose status is not 2xx; undefined to use the error of the status. */
  readonly errorOf?: (refusal: { readonly status: number; readonly value: unknown }) => PortErrorCode | undefined;
};

type StreamingCall<T> = ServiceCall & {
  /** Reads the events of a response of the type text/event-stream. @throws PortError */
  readonly readStream: (body: AsyncIterable<Uint8Array>) => Promise<T>;
};
type Answer<T> = { readonly status: number } & (
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'stream'; readonly read: T }
);

/** Bytes that an answer may have beyond the largest output of a node. */
const answerBytes = 4 * flowLimits.outputBytes;

const errors: Readonly<Record<number, PortErrorCode>> = {
  400: 'refused',
  401: 'forbidden',
  403: 'forbidden',
  404: 'not_found',
  408: 'unavailable',
  409: 'refused',
  413: 'refused',
  415: 'refused',
  422: 'refused',
  429: 'rate_limited',
};

/**
 * Exchanges JSON with a service of the platform, without redirects and retries: those are up to the node.
 * @throws PortError
 */
export async function exchangeWithService(call: ServiceCall): Promise<unknown> {
  const answer = await exchange<never>(call);
  return successOf(answer, call);
}

/** The error `guardrail_denied` for a 403 response whose body has this shape. */
export function deniedIf(shape: z.ZodType): NonNullable<ServiceCall['errorOf']> {
  return ({ status, value }) => (status === 403 && shape.safeParse(value).success ? 'guardrail_denied' : undefined);
}

/**
 * Like `exchangeWithService`, for a service that may answer with a stream of events instead of JSON.
 * @returns the value that was read from the stream, the JSON of a service that does not stream, or the JSON of a 400
 * @throws PortError
 */
export async function streamFromService<T>(
  call: StreamingCall<T>,
): Promise<
  { readonly kind: 'stream'; readonly read: T } | { readonly kind: 'json' | 'refused'; readonly value: unknown }
> {
  const answer = await exchange(call, call.readStream);
  if (answer.kind === 'stream') return { kind: 'stream', read: answer.read };
  if (answer.status === 400) return { kind: 'refused', value: answer.value };
  return { kind: 'json', value: successOf(answer, call) };
}

/** @throws PortError for any status but 2xx */
function successOf(answer: Answer<never>, { errorOf }: Pick<ServiceCall, 'errorOf'>): unknown {
  if (answer.kind === 'stream') throw new PortError('answer_invalid');
  const { status, value } = answer;
  if (status >= 200 && status < 300) return value;
  throw new PortError(errorOf?.({ status, value }) ?? errors[status] ?? 'unavailable');
}

async function exchange<T>(
  { url, headers, body, signal, onHeaders }: ServiceCall,
  readStream?: (body: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<Answer<T>> {
  let bytes: Buffer | undefined;
  let status: number;
  try {
    const answer = await request(url, {
      ...(body === undefined ? { method: 'GET' } : { method: 'POST', body: JSON.stringify(body) }),
      // The signal has the deadline of the node, which may be later than the usual timeouts of a client.
      headersTimeout: 0,
      bodyTimeout: 0,
      headers: {
        accept: readStream === undefined ? 'application/json' : 'application/json, text/event-stream',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      signal,
    });
    status = answer.statusCode;
    onHeaders?.(answer.headers);
    const isStream = /^text\/event-stream\b/i.test(String(answer.headers['content-type'] ?? ''));
    if (readStream !== undefined && isStream && status === 200) {
      return { status, kind: 'stream', read: await readStream(answer.body) };
    }
    bytes = await readBounded(answer.body, answerBytes);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PortError) throw error;
    throw new PortError('unavailable', { hadNoEffect: neverConnected(error) });
  }
  if (bytes === undefined) throw new PortError('answer_invalid');
  try {
    return { status, kind: 'json', value: JSON.parse(bytes.toString('utf8')) };
  } catch {
    if (status >= 200 && status < 300) throw new PortError('answer_invalid');
    return { status, kind: 'json', value: undefined };
  }
}
