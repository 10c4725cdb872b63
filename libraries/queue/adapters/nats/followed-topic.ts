import { createBackoff } from '#kit/time/backoff';
import { wait } from '#kit/time/wait';
import type { NatsStream } from './nats-stream.ts';

/** Pauses between attempts to receive hints again, milliseconds. */
const pauses = { firstMs: 100, maxMs: 10_000, resetAfterMs: 40_000 } as const;

/** Receives the notifications of one topic for all of its subscribers in this client. */
export class FollowedTopic {
  readonly #stream: NatsStream;
  readonly #topic: string;
  readonly #subscribers = new Set<() => void>();
  readonly #ended = new AbortController();
  #begun: Promise<void> | undefined;
  #following: Promise<void> = Promise.resolve();

  constructor(stream: NatsStream, topic: string) {
    this.#stream = stream;
    this.#topic = topic;
  }

  /** Resolves when hints are received. Rejects with an error of the driver. */
  add(subscriber: () => void): Promise<void> {
    this.#subscribers.add(subscriber);
    if (this.#begun === undefined) {
      const first = Promise.withResolvers<void>();
      this.#begun = first.promise;
      this.#following = this.#follow(first);
    }
    return this.#begun;
  }

  /** Removes a subscriber. @returns how many subscribers are left */
  remove(subscriber: () => void): number {
    this.#subscribers.delete(subscriber);
    return this.#subscribers.size;
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.#following;
  }

  /**
   * Receives hints until the end, if the first attempt succeeds. Each new attempt reads the kept hint again, so that no
   * hint is lost in a gap; subscribers are called for the gap as well, because the stream itself may have been lost.
   */
  async #follow(first: PromiseWithResolvers<void>): Promise<void> {
    const { signal } = this.#ended;
    const backoff = createBackoff({ ...pauses, now: () => performance.now() });
    let hasBegun = false;
    const onBegin = (): void => {
      if (hasBegun) this.#tell();
      hasBegun = true;
      first.resolve();
    };
    while (!signal.aborted) {
      try {
        await this.#receive(onBegin);
      } catch (error) {
        if (!hasBegun) return first.reject(error);
      }
      await wait(backoff.next(), signal);
    }
    first.reject(new DOMException('the subscription is ended', 'AbortError'));
  }

  /** Receives hints until the end, or until the connection or the stream is lost. */
  async #receive(onBegin: () => void): Promise<void> {
    const { messages, lost } = await this.#stream.receive(this.#topic);
    const signal = AbortSignal.any([this.#ended.signal, lost]);
    const stop = (): void => messages.stop();
    signal.addEventListener('abort', stop);
    if (signal.aborted) return stop();
    onBegin();
    try {
      for await (const _ of messages) this.#tell();
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  #tell(): void {
    for (const subscriber of this.#subscribers) subscriber();
  }
}
