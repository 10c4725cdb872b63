import { createDeadlines } from '#kit/concurrency/deadlines';
import { type ClientError, plainError } from './client-error.ts';

/** Reasons that end a request before its answer is complete. */
type InterruptionCause = 'client_gone' | 'too_long' | 'shutting_down';

/** Reads why the signal of a request was aborted. */
export class Interruption extends Error {
  readonly code: InterruptionCause;

  constructor(code: InterruptionCause) {
    super(`interrupted: ${code}`);
    this.name = 'Interruption';
    this.code = code;
  }
}

/**
 * The lifetime of one request. All work for the request stops when its signal aborts; the reason is an Interruption.
 */
export type RequestLife = Disposable & {
  readonly signal: AbortSignal;
  /** Aborts the request; only the first reason counts. */
  interrupt(cause: InterruptionCause): void;
};

const deadlines = createDeadlines();

/** Starts the lifetime of a request, which ends after `maxMs` milliseconds or when `shutdown` aborts. */
export function beginRequest(shutdown: AbortSignal, maxMs: number): RequestLife {
  const controller = new AbortController();
  const interrupt = (cause: InterruptionCause): void => controller.abort(new Interruption(cause));
  const onShutdown = (): void => interrupt('shutting_down');
  const due = deadlines.start(maxMs, () => interrupt('too_long'));
  if (shutdown.aborted) onShutdown();
  else shutdown.addEventListener('abort', onShutdown, { once: true });
  return {
    signal: controller.signal,
    interrupt,
    [Symbol.dispose]() {
      deadlines.cancel(due);
      shutdown.removeEventListener('abort', onShutdown);
    },
  };
}

/** The error to send after an interruption; undefined when the client has disconnected. */
export function interruptionError(error: unknown): ClientError | undefined {
  if (!(error instanceof Interruption)) throw error;
  switch (error.code) {
    case 'client_gone':
      return undefined;
    case 'too_long':
      return plainError('upstream_timeout');
    case 'shutting_down':
      return plainError('shutting_down');
  }
}
