import { Pool } from 'undici';
import { createSemaphore } from '#kit/concurrency/semaphore';

/** What a runtime answered, whole; or how far the attempt came. `lost` and `broken` tell apart what may be tried again. */
export type Attempt =
  | { readonly kind: 'answer'; readonly status: number; readonly bytes: Buffer }
  /** The answer is longer than any answer of the contract. */
  | { readonly kind: 'too_long' }
  /** No connection, or it was lost before an answer began. */
  | { readonly kind: 'lost' }
  /** The connection was lost in the middle of an answer, or what came was not HTTP. */
  | { readonly kind: 'broken' };

export type CheckCall = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Bytes of an answer that are read at most. */
  readonly maxAnswerBytes: number;
};

/** One process of a workload: a keep-alive pool with a bounded number of calls in flight. */
export type RuntimeAddress = AsyncDisposable & {
  readonly origin: string;
  inUse(): number;
  /** Monotonic time of the last use in milliseconds. */
  lastUse(): number;
  /**
   * One call, without redirects and without a retry.
   * Rejects with the reason of the signal when it ends first, waiting for a free place included.
   */
  call(call: CheckCall, signal: AbortSignal): Promise<Attempt>;
};

/** Undici's codes for a connection that ended without being asked to, before or while an answer came. */
const lostCodes = new Set(['UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE']);
const connectCodes = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'ECONNABORTED']);

export function openRuntimeAddress(origin: string, maxInFlight: number, now: () => number): RuntimeAddress {
  const pool = new Pool(origin, {
    connections: maxInFlight,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 10_000,
    maxHeaderSize: 16_384,
  });
  const places = createSemaphore(maxInFlight);
  let used = now();
  return {
    origin,
    inUse: () => places.inUse,
    lastUse: () => used,
    async call(call, signal) {
      used = now();
      const release = places.tryAcquire() ?? (await places.acquire(signal));
      try {
        return await attempt(pool, call, signal);
      } finally {
        release();
      }
    },
    async [Symbol.asyncDispose]() {
      await pool.close();
    },
  };
}

async function attempt(pool: Pool, call: CheckCall, signal: AbortSignal): Promise<Attempt> {
  let began = false;
  try {
    const { path, headers, body } = call;
    const answer = await pool.request({ method: 'POST', path, headers, body, signal });
    began = true;
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of answer.body as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > call.maxAnswerBytes) return { kind: 'too_long' };
      parts.push(part);
    }
    return { kind: 'answer', status: answer.statusCode, bytes: Buffer.concat(parts, length) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { kind: !began && isLost(error) ? 'lost' : 'broken' };
  }
}

function isLost(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return lostCodes.has(code) || connectCodes.has(code);
}
