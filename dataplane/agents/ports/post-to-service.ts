import type { FlowErrorCode } from '#contracts/flow-errors';
import { flowLimits } from '#contracts/flow-limits';
import { PortError } from '#flow/engine/flow-error';
import { readBounded } from '#kit/http/read-bounded';

type PortErrorCode = PortError['code'] & FlowErrorCode;

type ServiceCall = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
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
 * Sends a POST with JSON to a service of the platform, without redirects and retries: those are up to the node.
 * @throws PortError
 */
export async function postToService({ url, headers, body, signal, forbiddenAs }: ServiceCall): Promise<unknown> {
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
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    });
    status = answer.status;
    bytes = answer.body === null ? Buffer.alloc(0) : await readBounded(answer.body, answerBytes);
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
