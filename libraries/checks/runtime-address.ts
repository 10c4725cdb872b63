import { type Dispatcher, Pool } from 'undici';
import { explainHeaders } from '#contracts/profiles';
import { createDeadlines } from '#kit/concurrency/deadlines';
import { createSemaphore, type Release } from '#kit/concurrency/semaphore';

/** The whole answer of a runtime, or the way in which the attempt failed. Only a `lost` attempt may be retried. */
export type CallAttempt =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly bytes: Buffer;
      /** The headers that explain the answer, as received. */
      readonly explanation: AnswerExplanation;
    }
  /** The answer exceeds the maximum length of the contract. */
  | { readonly kind: 'too_long' }
  /** The connection failed, or was lost before an answer began. */
  | { readonly kind: 'lost' }
  /** The connection was lost during an answer, or the received bytes were not HTTP. */
  | { readonly kind: 'broken' };

/** Headers that name the deciding rule, and, if its provider returned no judgement, the provider and the cause. */
export type AnswerExplanation = Readonly<Record<'rule' | 'provider' | 'cause', string | undefined>>;

export type CheckCall = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Maximum number of answer bytes that are read. */
  readonly maxAnswerBytes: number;
};

/** The conditions that end a call before its answer: a signal, and a time of the monotonic clock in milliseconds. */
type CallEnd = { readonly signal: AbortSignal | undefined; readonly deadline: number };

/** The reason of a call that its deadline ended. */
export const deadlinePassed = new DOMException('the deadline has passed', 'TimeoutError');

/** The connections to one runtime process of a workload: a keep-alive pool with a bounded number of calls in flight. */
export type RuntimeAddress = AsyncDisposable & {
  readonly origin: string;
  inUse(): number;
  /** Monotonic time of the last use in milliseconds. */
  lastUse(): number;
  /**
   * Makes one call, without redirects and without a retry. Rejects with the reason of the signal or with
   * `deadlinePassed`, whichever comes first, even while the call waits for a free connection.
   */
  call(call: CheckCall, end: CallEnd): Promise<CallAttempt>;
};

/** Undici's codes for a connection that was lost before or during an answer. */
const lostCodes = new Set(['UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE']);
const connectCodes = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'ECONNABORTED']);

/** Nearly every call ends long before its deadline. */
const deadlines = createDeadlines();

const unexplained: AnswerExplanation = { rule: undefined, provider: undefined, cause: undefined };

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

  function acquire({ signal, deadline }: CallEnd): Promise<Release> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Release>();
    const leave = places.enqueue((release) => {
      stopWatching();
      resolve(release);
    });
    const due = deadlines.start(deadline - performance.now(), () => end(deadlinePassed));
    signal?.addEventListener('abort', onAbort, { once: true });

    function stopWatching(): void {
      deadlines.cancel(due);
      signal?.removeEventListener('abort', onAbort);
    }
    function end(reason: unknown): void {
      stopWatching();
      leave();
      reject(reason);
    }
    function onAbort(): void {
      end(signal?.reason);
    }
    return promise;
  }

  return {
    origin,
    inUse: () => places.inUse,
    lastUse: () => used,
    async call(call, end) {
      used = now();
      const release = places.tryAcquire() ?? (await acquire(end));
      try {
        return await attempt(pool, call, end);
      } finally {
        release();
      }
    },
    async [Symbol.asyncDispose]() {
      await pool.close();
    },
  };
}

/**
 * Sends one call and collects its answer with undici's `dispatch`: checks are small and frequent, and the stream that the
 * other methods create for an answer costs more than the answer.
 */
function attempt(pool: Pool, call: CheckCall, { signal, deadline }: CallEnd): Promise<CallAttempt> {
  signal?.throwIfAborted();
  const ms = deadline - performance.now();
  if (ms <= 0) throw deadlinePassed;
  const { path, headers, body, maxAnswerBytes } = call;
  const { promise, resolve, reject } = Promise.withResolvers<CallAttempt>();
  const parts: Buffer[] = [];
  let length = 0;
  let status: number | undefined;
  let explanation: AnswerExplanation = unexplained;
  let sending: Dispatcher.DispatchController | undefined;
  let stopped: { readonly reason: Error } | undefined;

  function stopWatching(): void {
    deadlines.cancel(due);
    signal?.removeEventListener('abort', onAbort);
  }
  function stop(reason: Error): void {
    stopWatching();
    stopped = { reason };
    reject(reason);
    sending?.abort(reason);
  }
  function onAbort(): void {
    stop(signal?.reason);
  }
  function settle(outcome: CallAttempt): void {
    stopWatching();
    resolve(outcome);
  }

  const due = deadlines.start(ms, () => stop(deadlinePassed));
  signal?.addEventListener('abort', onAbort, { once: true });
  pool.dispatch(
    { method: 'POST', path, headers, body },
    {
      onRequestStart(controller) {
        sending = controller;
        if (stopped !== undefined) controller.abort(stopped.reason);
      },
      onResponseStart(_controller, statusCode, received) {
        if (statusCode < 200) return;
        status = statusCode;
        const read = (name: string): string | undefined => {
          const value = received[name];
          return typeof value === 'string' ? value : undefined;
        };
        explanation = {
          rule: read(explainHeaders.rule),
          provider: read(explainHeaders.provider),
          cause: read(explainHeaders.cause),
        };
      },
      onResponseData(controller, part) {
        length += part.length;
        if (length <= maxAnswerBytes) return void parts.push(part);
        settle({ kind: 'too_long' });
        controller.abort(new Error('the answer is too long'));
      },
      onResponseEnd() {
        settle(
          status === undefined
            ? { kind: 'broken' }
            : { kind: 'answer', status, explanation, bytes: Buffer.concat(parts) },
        );
      },
      onResponseError(_controller, error) {
        settle({ kind: status === undefined && isLost(error) ? 'lost' : 'broken' });
      },
    },
  );
  return promise;
}

function isLost(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return lostCodes.has(code) || connectCodes.has(code);
}
