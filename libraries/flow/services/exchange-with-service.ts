import { request } from 'undici';
import type { FlowErrorCode } from '#contracts/flow-errors';
import { flowLimits } from '#contracts/flow-limits';
import { readBounded } from '#kit/http/read-bounded';
import { PortError } from '../engine/flow-error.ts';

type PortErrorCode = PortError['code'] & FlowErrorCode;

type ServiceCall = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The content of a POST; a request without a body is a GET. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
  /** The error for a 403 response with this body; undefined means `forbidden`. */
  readonly forbiddenAs?: (body: unknown) => PortErrorCode | undefined;
};

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
export async function exchangeWithService({ url, headers, body, signal, forbiddenAs }: ServiceCall): Promise<unknown> {
  const { status, value } = await exchange(url, headers, body, signal);
  if (status >= 200 && status < 300) return value;
  const special = status === 403 ? forbiddenAs?.(value) : undefined;
  throw new PortError(special ?? errors[status] ?? 'unavailable');
}

async function exchange(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly value: unknown }> {
  let bytes: Buffer | undefined;
  let status: number;
  try {
    const answer = await request(url, {
      ...(body === undefined ? { method: 'GET' } : { method: 'POST', body: JSON.stringify(body) }),
      // The signal has the deadline of the node, which may be later than the usual timeouts of a client.
      headersTimeout: 0,
      bodyTimeout: 0,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      signal,
    });
    status = answer.statusCode;
    bytes = await readBounded(answer.body, answerBytes);
  } catch {
    signal.throwIfAborted();
    throw new PortError('unavailable');
  }
  if (bytes === undefined) throw new PortError('answer_invalid');
  try {
    return { status, value: JSON.parse(bytes.toString('utf8')) };
  } catch {
    if (status >= 200 && status < 300) throw new PortError('answer_invalid');
    return { status, value: undefined };
  }
}
