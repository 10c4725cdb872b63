import { SseReader } from '#kit/http/sse-reader';
import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';
import { eventTextBytes } from '../chat/estimate-tokens.ts';
import type { RenameAnswer } from '../chat/rename-answer.ts';
import { FrameTemplate } from './frame-template.ts';
import type { GuardStep } from './stepped-guard.ts';
import { streamBounds } from './stream-guard.ts';
import { doneFrame, keepAliveFrame, writeFrame } from './write-frame.ts';

type End = Extract<GuardStep, { readonly kind: 'finished' | 'stopped' }>;
type Fault = 'broken' | 'event_too_large' | 'invalid' | 'failed';

/** The classification of one event of a stream. `fault`: the event must not be sent. */
type EventMeaning = { readonly kind: 'frame' | 'last' } | { readonly kind: 'fault'; readonly fault: Fault };

/** How an API streams its answers. */
export type StreamForm = {
  /** Maximum number of bytes of one event. */
  readonly eventBytes: number;
  /** Whether `[DONE]` ends a stream. */
  readonly hasDone: boolean;
  readonly read: (value: JsonValue, name: string) => EventMeaning;
  /** Whether frames differ mostly in `delta.content`, so that the comparison with a learned form saves time. */
  readonly hasForm: boolean;
};

/** Streams of chat completions. */
export const chatStreamForm: StreamForm = {
  eventBytes: streamBounds.eventBytes,
  hasDone: true,
  read: (value, name) => {
    const isChunk = name === '' && isObject(value) && (value['error'] ?? null) === null;
    return isChunk ? { kind: 'frame' } : { kind: 'fault', fault: 'invalid' };
  },
  hasForm: true,
};

/**
 * The relay of one streamed answer of an unguarded model: the steps of a StreamGuard without checks. Frames keep their
 * JSON bytes; error objects of a provider are not sent.
 */
export class PlainStream {
  readonly #reader: SseReader;
  readonly #form: StreamForm;
  readonly #rename: RenameAnswer;
  readonly #template = new FrameTemplate();
  /** The bytes to send, one character of Latin-1 for each. */
  #outgoing = '';
  #closed = false;
  #textBytes = 0;
  #end: End | undefined;

  /** @param rename is applied to each frame that is sent */
  constructor(form: StreamForm = chatStreamForm, rename: RenameAnswer = (frame) => frame) {
    this.#reader = new SseReader(form.eventBytes);
    this.#form = form;
    this.#rename = rename;
  }

  /** Bytes of the texts that the upstream has sent so far. */
  get textBytes(): number {
    return this.#textBytes;
  }

  receive(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  close(): void {
    this.#closed = true;
  }

  next(): GuardStep {
    let waits = false;
    while (this.#end === undefined && !waits) waits = !this.#takeEvent();
    if (this.#outgoing === '') return this.#end ?? { kind: 'read' };
    const bytes = Buffer.from(this.#outgoing, 'latin1');
    this.#outgoing = '';
    return { kind: 'emit', bytes };
  }

  /** @returns false when the reader needs more bytes of the stream */
  #takeEvent(): boolean {
    const event = this.#reader.next();
    if (event === undefined) {
      if (this.#closed) this.#stop('broken');
      return this.#closed;
    }
    if (event.kind === 'comment') this.#emit(keepAliveFrame);
    else if (event.kind === 'too_large') this.#stop('event_too_large');
    else if (this.#form.hasDone && event.data.toString('latin1') === '[DONE]') {
      this.#emit(doneFrame);
      this.#end = { kind: 'finished' };
    } else this.#takeData(event.data, event.name);
    return true;
  }

  #takeData(data: Buffer, name: string): void {
    const known = name === '' ? this.#template.match(data) : undefined;
    if (known === undefined) this.#takeUnknown(data, name);
    else {
      this.#textBytes += Buffer.byteLength(known.text);
      this.#outgoing += known.sent;
    }
  }

  #takeUnknown(data: Buffer, name: string): void {
    const value = parseEvent(data);
    const meaning: EventMeaning =
      value === undefined ? { kind: 'fault', fault: 'invalid' } : this.#form.read(value, name);
    if (meaning.kind === 'fault') {
      this.#stop(meaning.fault);
      return;
    }
    if (value !== undefined) this.#textBytes += eventTextBytes(value);
    const frame = writeFrame(this.#rename(data), name === '' ? undefined : name);
    this.#emit(frame);
    if (this.#form.hasForm) this.#template.learn(data, frame);
    if (meaning.kind === 'last') this.#end = { kind: 'finished' };
  }

  #emit(bytes: Buffer): void {
    this.#outgoing += bytes.toString('latin1');
  }

  #stop(fault: Fault): void {
    this.#end = { kind: 'stopped', stop: { kind: 'upstream', fault } };
  }
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseEvent(data: Buffer): JsonValue | undefined {
  try {
    return parseStrict(data, { unpairedSurrogates: 'keep' });
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
