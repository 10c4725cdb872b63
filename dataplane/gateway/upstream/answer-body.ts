import { createDeadlines } from '#kit/concurrency/deadlines';

/** The body of an answer of a provider; its iterator gives everything that has arrived at once. */
export type AnswerBody = AsyncIterable<Buffer> & {
  /** Stops the body: a read that waits rejects, and the connection is closed unless all bytes have arrived. */
  destroy(): void;
  /**
   * Reads no more, and drops the bytes that still arrive, so that the connection can be used again. It is closed if the
   * end does not arrive within a second, or after more than 65,536 bytes.
   */
  drain(): void;
};

/** The sender of a body. */
type BodySource = { pause(): void; resume(): void; abort(reason: Error): void };

/** One error for all bodies: each stream ends with one, and a stack would take longer than the rest of its end. */
const abandoned = new Error('the body of the answer was abandoned');

/** Maximum number of bytes that wait to be read before the sender is paused, and of bytes that are dropped at the end. */
const maxUnreadBytes = 65_536;
const drainMs = 1_000;
const deadlines = createDeadlines();

type Waiting = { readonly resolve: (part: IteratorResult<Buffer>) => void; readonly reject: (error: unknown) => void };

/**
 * A body that the HTTP client pushes. It is not a stream of Node: a provider sends hundreds of small chunks in one
 * answer, and a stream of Node costs more per chunk than the relay itself.
 */
export class PushedBody implements AnswerBody, AsyncIterator<Buffer> {
  readonly #source: BodySource;
  #parts: Buffer[] = [];
  #unread = 0;
  #waiting: Waiting | undefined;
  #end: { readonly error: unknown } | 'complete' | undefined;
  #isPaused = false;
  #isPlanned = false;
  #draining: ReturnType<typeof deadlines.start> | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  push(part: Buffer): void {
    if (this.#end !== undefined) return;
    this.#unread += part.length;
    if (this.#draining !== undefined) {
      if (this.#unread > maxUnreadBytes) this.destroy();
      return;
    }
    this.#parts.push(part);
    if (this.#waiting !== undefined) this.#planDelivery();
    if (this.#unread <= maxUnreadBytes || this.#isPaused) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  /** Chunks that arrive together are read together. */
  #planDelivery(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      this.#deliver();
    });
  }

  /** Records that all bytes have arrived. */
  complete(): void {
    this.#finish('complete');
  }

  /** The connection was lost or the request was aborted; bytes that were not read are dropped. */
  fail(error: unknown): void {
    if (this.#end !== undefined) return;
    this.#parts = [];
    this.#finish({ error });
  }

  destroy(): void {
    const isComplete = this.#end !== undefined;
    if (this.#draining !== undefined) deadlines.cancel(this.#draining);
    this.#parts = [];
    this.#end = { error: abandoned };
    this.#waiting?.reject(abandoned);
    this.#waiting = undefined;
    if (!isComplete) this.#source.abort(abandoned);
  }

  drain(): void {
    if (this.#end !== undefined || this.#draining !== undefined) return;
    this.#parts = [];
    this.#unread = 0;
    this.#draining = deadlines.start(drainMs, () => this.destroy());
    this.#resume();
  }

  next(): Promise<IteratorResult<Buffer>> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#deliver();
    });
  }

  return(): Promise<IteratorResult<Buffer>> {
    this.destroy();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    return this;
  }

  #finish(end: { readonly error: unknown } | 'complete'): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    if (this.#draining !== undefined) deadlines.cancel(this.#draining);
    if (this.#waiting !== undefined) this.#deliver();
  }

  /** Completes the waiting read with the received bytes, or the end. */
  #deliver(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    const [first] = this.#parts;
    if (first === undefined && this.#end === undefined) return;
    this.#waiting = undefined;
    if (first !== undefined) {
      const value = this.#parts.length === 1 ? first : Buffer.concat(this.#parts, this.#unread);
      this.#parts = [];
      this.#unread = 0;
      waiting.resolve({ done: false, value });
      this.#resume();
    } else if (this.#end === 'complete') waiting.resolve({ done: true, value: undefined });
    else waiting.reject(this.#end?.error);
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#end === undefined) this.#source.resume();
  }
}
