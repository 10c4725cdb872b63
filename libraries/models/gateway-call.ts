import { Agent } from 'undici';
import { z } from 'zod';
import { withTimeout } from '#kit/concurrency/abort';
import type { TokenFile } from '#kit/http/token-file';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { createBackoff } from '#kit/time/backoff';
import { ModelsError } from './models-error.ts';
import type { ModelCall } from './ports.ts';

export type GatewayCallOptions = {
  /** Address of the model gateway, to which `/v1/...` is added. */
  readonly url: URL;
  /** The client key of this service at the gateway; absent where the gateway is open. */
  readonly tokenFile?: Pick<TokenFile, 'first'>;
  /** Bound of a call with all its attempts, milliseconds. */
  readonly timeoutMs: number;
  /** Waits between two attempts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The current time, monotonic milliseconds. */
  readonly now: () => number;
};

/** POST of a JSON body to a path of the gateway; the parsed body of a 200. @throws ModelsError */
type GatewayCall = AsyncDisposable & { post(path: string, body: unknown, call: ModelCall): Promise<unknown> };

/** Maximum number of attempts of one call, including the first. */
const maxAttempts = 5;
const firstPauseMs = 200;
const maxPauseMs = 5_000;
/** The largest answer, in bytes; the gateway relays no larger answers. */
const maxAnswerBytes = 20 * 1_048_576;

type Attempt =
  | { readonly kind: 'answer'; readonly value: unknown }
  | { readonly kind: 'final'; readonly error: ModelsError }
  | { readonly kind: 'again'; readonly retryAfterMs: number | undefined };

/**
 * Calls of the gateway with retries: a lost connection, 429 and 5xx are retried with backoff, not before `Retry-After`,
 * until the timeout or the last attempt. A pause beyond the timeout ends the call immediately.
 */
export function openGatewayCall(options: GatewayCallOptions): GatewayCall {
  const agent = new Agent({ pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 16_384 });

  async function post(path: string, body: unknown, call: ModelCall): Promise<unknown> {
    const timeoutMs = call.timeoutMs ?? options.timeoutMs;
    const end = options.now() + timeoutMs;
    const backoff = createBackoff({
      firstMs: firstPauseMs,
      maxMs: maxPauseMs,
      resetAfterMs: Number.POSITIVE_INFINITY,
      now: options.now,
    });
    const text = JSON.stringify(body);
    using budget = withTimeout(call.signal, timeoutMs);
    let retryAfterMs: number | undefined;
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const outcome = await attemptOf(agent, options, { path, text, traceparent: call.traceparent }, budget.signal);
      if (call.signal?.aborted) throw call.signal.reason;
      if (outcome.kind === 'answer') return outcome.value;
      if (outcome.kind === 'final') throw outcome.error;
      retryAfterMs = outcome.retryAfterMs;
      const pauseMs = Math.max(backoff.next(), retryAfterMs ?? 0);
      if (attempt === maxAttempts || budget.timedOut() || options.now() + pauseMs >= end) break;
      await options.pause(pauseMs, budget.signal);
      if (call.signal?.aborted) throw call.signal.reason;
    }
    throw new ModelsError('unavailable', undefined, retryAfterMs, budget.timedOut());
  }
  return {
    post,
    async [Symbol.asyncDispose]() {
      await agent.destroy();
    },
  };
}

type Sent = { readonly path: string; readonly text: string; readonly traceparent: string | undefined };

/** Makes one attempt. Never rejects: after a lost connection or an abort of the signal the result is `again`. */
async function attemptOf(
  agent: Agent,
  { url, tokenFile }: GatewayCallOptions,
  { path, text, traceparent }: Sent,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const answer = await agent.request({
      origin: url.origin,
      path: `${url.pathname.replace(/\/+$/, '')}${path}`,
      method: 'POST',
      signal,
      body: text,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...(tokenFile === undefined ? {} : { authorization: `Bearer ${tokenFile.first()}` }),
        ...(traceparent === undefined ? {} : { traceparent }),
      },
    });
    const bytes = await readAtMost(answer.body, maxAnswerBytes);
    if (bytes === undefined) return { kind: 'final', error: new ModelsError('invalid', 'the answer is too large') };
    return judge(answer.statusCode, answer.headers, jsonOrUndefined(bytes));
  } catch {
    // The caller distinguishes an abort from a lost connection by its signals.
    return { kind: 'again', retryAfterMs: undefined };
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const errorBody = z.object({ error: z.object({ code: z.string() }) });
/** Failed checks of the gateway whose cause is the size of the input, so that no later attempt passes. */
const tooLarge = new Set(['body_too_large', 'message_limit']);
/** Statuses with which the gateway or the model refuses the input. */
const refusals = new Set([400, 413, 422]);

function judge(status: number, headers: Headers, value: unknown): Attempt {
  if (status === 200) return { kind: 'answer', value };
  const read = errorBody.safeParse(value);
  const code = read.success ? read.data.error.code : '';
  const retryAfterMs = retryAfterOf(headers['retry-after']);
  if (status === 403 && code === 'policy_denied') return final('denied');
  if (refusals.has(status) || (status === 503 && tooLarge.has(code))) return final('refused');
  const asksAgain = status === 408 || status === 429 || status >= 500;
  if (asksAgain && headers['x-should-retry'] !== 'false') return { kind: 'again', retryAfterMs };
  // A wrong key, a missing alias or a disabled model needs a change of the configuration: a retry would fail again.
  return { kind: 'final', error: new ModelsError('unavailable', `the gateway answered ${status}`, retryAfterMs) };
}

function final(code: 'denied' | 'refused'): Attempt {
  return { kind: 'final', error: new ModelsError(code) };
}

/** Seconds of RFC 9110, section 10.2.3; a date is not used. */
function retryAfterOf(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined;
}

async function readAtMost(body: AsyncIterable<Buffer>, limit: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > limit) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts, length);
}
