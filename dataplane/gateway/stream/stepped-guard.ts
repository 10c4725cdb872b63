import type { CheckFailure } from '#checks/check-outcome';
import { type SseDataEvent, type SseEvent, SseReader } from '#kit/http/sse-reader';
import { keepAliveFrame } from './write-frame.ts';

/** Why a guarded stream was stopped. Frames that are held at that moment are dropped. */
export type StreamStop =
  | { readonly kind: 'denied' }
  | { readonly kind: 'check_failed'; readonly code: CheckFailure }
  | {
      readonly kind: 'upstream';
      readonly fault: 'invalid' | 'event_too_large' | 'held_too_much' | 'broken' | 'unjudged' | 'failed';
    };

/** The next action of the caller, who answers `check` with `judged`, and `read` with `receive` or `close`. */
export type GuardStep =
  | { readonly kind: 'emit'; readonly bytes: Buffer }
  | { readonly kind: 'check'; readonly texts: readonly string[] }
  | { readonly kind: 'read' }
  | { readonly kind: 'finished' }
  | { readonly kind: 'stopped'; readonly stop: StreamStop };

/** The decision about the texts of a `check` step. */
export type WindowVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'deny' }
  | { readonly kind: 'failed'; readonly code: CheckFailure };

/** Texts to judge in one check, and the action after a pass. */
export type GuardCheck = { readonly texts: readonly string[]; readonly pass: () => void };

/**
 * The steps of a guard of one stream, without I/O: bytes of the upstream in, steps out. The caller executes each step
 * of `next`, until it is `finished` or `stopped`. Events are read one at a time, so that the result does not depend on
 * how the bytes are split into pieces.
 */
export abstract class SteppedGuard {
  readonly #reader: SseReader;
  /** The bytes to send, one character of Latin-1 for each: frames are small, and joining strings costs less than joining buffers. */
  #outgoing = '';
  #pending: GuardCheck | undefined;
  /** Whether the pending check was already returned to the caller. */
  #isAsked = false;
  #isClosed = false;
  #textBytes = 0;
  #end: Extract<GuardStep, { kind: 'finished' | 'stopped' }> | undefined;

  /** @param eventBytes the largest event of the upstream, in bytes */
  constructor(eventBytes: number) {
    this.#reader = new SseReader(eventBytes);
  }

  /**
   * Emits the passed text and returns the next check; `end` after the last event, undefined when another event is needed.
   */
  protected abstract prepare(): GuardCheck | 'end' | undefined;
  /** Takes the next event that has data. */
  protected abstract take(event: SseDataEvent): void;
  /** Called after the last check of the last event. */
  protected abstract finish(): void;
  /** Drops held text and planned checks, because the stream was stopped. */
  protected abstract drop(): void;

  /** Receives the next bytes of the upstream. */
  receive(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  /** Records that the upstream sends no more bytes. */
  close(): void {
    this.#isClosed = true;
  }

  /** Receives the verdict of the texts that a `check` step returned. */
  judged(verdict: WindowVerdict): void {
    const check = this.#pending;
    if (check === undefined) throw new Error('a verdict arrived although no check of a stream is pending');
    this.#pending = undefined;
    switch (verdict.kind) {
      case 'pass':
        check.pass();
        return;
      case 'deny':
        this.stop({ kind: 'denied' });
        return;
      case 'failed':
        this.stop({ kind: 'check_failed', code: verdict.code });
        return;
    }
  }

  next(): GuardStep {
    for (;;) {
      if (this.#end !== undefined) return this.#takeOutgoing() ?? this.#end;
      if (this.#pending !== undefined) return this.#takeOutgoing() ?? this.#ask(this.#pending);
      const prepared = this.prepare();
      if (prepared === 'end') {
        this.finish();
        this.#end = { kind: 'finished' };
      } else if (prepared !== undefined) {
        this.#pending = prepared;
        this.#isAsked = false;
      } else if (!this.#takeEvent()) {
        return this.#takeOutgoing() ?? { kind: 'read' };
      }
    }
  }

  /** Bytes of the texts that the upstream has sent so far. */
  get textBytes(): number {
    return this.#textBytes;
  }

  protected countText(bytes: number): void {
    this.#textBytes += bytes;
  }

  /** Sends bytes to the client with the next step; a string has a character of Latin-1 for each byte. */
  protected emit(bytes: Buffer | string): void {
    this.#outgoing += typeof bytes === 'string' ? bytes : bytes.toString('latin1');
  }

  /** Whether the stream was stopped. */
  protected get isStopped(): boolean {
    return this.#end !== undefined;
  }

  /** Text that was emitted before the stop is still sent; held text is dropped. The first reason counts. */
  protected stop(stop: StreamStop): void {
    this.drop();
    this.#end ??= { kind: 'stopped', stop };
  }

  #ask({ texts }: GuardCheck): GuardStep {
    if (this.#isAsked) throw new Error('the next step was requested before the pending check had its verdict');
    this.#isAsked = true;
    return { kind: 'check', texts };
  }

  /** @returns false when the guard needs more bytes of the upstream */
  #takeEvent(): boolean {
    const event = this.#reader.next();
    if (event !== undefined) this.#takeRead(event);
    else if (this.#isClosed) this.stop({ kind: 'upstream', fault: 'broken' });
    else return false;
    return true;
  }

  #takeRead(event: SseEvent): void {
    switch (event.kind) {
      case 'comment':
        this.emit(keepAliveFrame);
        return;
      case 'too_large':
        this.stop({ kind: 'upstream', fault: 'event_too_large' });
        return;
      case 'data':
        this.take(event);
        return;
    }
  }

  #takeOutgoing(): GuardStep | undefined {
    if (this.#outgoing === '') return undefined;
    const bytes = Buffer.from(this.#outgoing, 'latin1');
    this.#outgoing = '';
    return { kind: 'emit', bytes };
  }
}
