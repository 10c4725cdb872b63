import { SseReader } from '#kit/http/sse-reader';
import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';
import type { RenameAnswer } from '../chat/rename-answer.ts';
import { type GuardStep, streamBounds } from './stream-guard.ts';
import { doneFrame, keepAliveFrame, writeFrame } from './write-frame.ts';

type End = Extract<GuardStep, { readonly kind: 'finished' | 'stopped' }>;

/**
 * The relay of one streamed answer of an unguarded model: the steps of a StreamGuard without checks. Frames keep their
 * JSON bytes; error objects of a provider are not sent.
 */
export class PlainStream {
  readonly #reader = new SseReader(streamBounds.eventBytes);
  readonly #rename: RenameAnswer;
  #closed = false;
  #end: End | undefined;

  /** @param rename is applied to each frame that is sent */
  constructor(rename: RenameAnswer = (frame) => frame) {
    this.#rename = rename;
  }

  receive(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  close(): void {
    this.#closed = true;
  }

  next(): GuardStep {
    const outgoing: Buffer[] = [];
    let waits = false;
    while (this.#end === undefined && !waits) waits = !this.#takeEvent(outgoing);
    if (outgoing.length > 0) return { kind: 'emit', bytes: Buffer.concat(outgoing) };
    return this.#end ?? { kind: 'read' };
  }

  /** @returns false when the reader needs more bytes of the stream */
  #takeEvent(outgoing: Buffer[]): boolean {
    const event = this.#reader.next();
    if (event === undefined) {
      if (this.#closed) this.#stop('broken');
      return this.#closed;
    }
    if (event.kind === 'comment') outgoing.push(keepAliveFrame);
    else if (event.kind === 'too_large') this.#stop('event_too_large');
    else if (event.data.toString('latin1') === '[DONE]') {
      outgoing.push(doneFrame);
      this.#end = { kind: 'finished' };
    } else if (event.name !== '' || !isChunk(event.data)) this.#stop('invalid');
    else outgoing.push(writeFrame(this.#rename(event.data)));
    return true;
  }

  #stop(fault: 'broken' | 'event_too_large' | 'invalid'): void {
    this.#end = { kind: 'stopped', stop: { kind: 'upstream', fault } };
  }
}

function isChunk(data: Buffer): boolean {
  try {
    const value: JsonValue = parseStrict(data, { unpairedSurrogates: 'keep' });
    return typeof value === 'object' && value !== null && !Array.isArray(value) && (value['error'] ?? null) === null;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}
