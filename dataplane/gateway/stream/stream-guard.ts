import type { CheckFailure } from '#checks/check-outcome';
import { readChunk } from './read-chunk.ts';
import { type SseEvent, SseReader } from './sse-reader.ts';
import { TextChannel, type TextWindow } from './text-channel.ts';
import { doneFrame, keepAliveFrame, writeFrame } from './write-frame.ts';

/** Bounds of one guarded stream in bytes (DESIGN section 8, "Upstream frames"). */
export const streamBounds = { eventBytes: 1_048_576, heldBytes: 1_048_576 } as const;

/** Why a stream does not end well. The frames that are held when it stops never leave. */
export type StreamStop =
  | { readonly kind: 'denied' }
  | { readonly kind: 'check_failed'; readonly code: CheckFailure }
  | { readonly kind: 'upstream'; readonly fault: 'invalid' | 'event_too_large' | 'held_too_much' | 'broken' };

/** What has to be done next. `check` and `read` wait for an answer through `judged`, `receive` or `close`. */
export type GuardStep =
  | { readonly kind: 'emit'; readonly bytes: Buffer }
  | { readonly kind: 'check'; readonly text: string }
  | { readonly kind: 'read' }
  | { readonly kind: 'finished' }
  | { readonly kind: 'stopped'; readonly stop: StreamStop };

export type WindowVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'deny' }
  | { readonly kind: 'failed'; readonly code: CheckFailure };

/** A frame that waits until the texts up to its end have passed. */
type HeldFrame = { readonly data: Buffer; readonly contentEnd: number; readonly refusalEnd: number };
type Judging = { readonly channel: TextChannel; readonly window: TextWindow; asked: boolean };

/**
 * The guard of one streamed answer, without I/O: bytes of the upstream in, steps out. The caller takes `next` until it
 * is `finished` or `stopped`, and does what each step says.
 * Content and refusal are texts of their own, as they are to a client: each goes through its own windows, and a frame
 * leaves when both are released up to its end and every frame before it has left. Events are read one at a time, so
 * what leaves and how the stream ends does not depend on how the bytes were cut.
 */
export class StreamGuard {
  readonly #reader = new SseReader(streamBounds.eventBytes);
  readonly #content = new TextChannel();
  readonly #refusal = new TextChannel();
  #held: HeldFrame[] = [];
  #heldBytes = 0;
  #outgoing: Buffer[] = [];
  #judging: Judging | undefined;
  #closed = false;
  #done = false;
  #end: Extract<GuardStep, { kind: 'finished' | 'stopped' }> | undefined;

  /** The next bytes of the upstream. */
  receive(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  /** The upstream sends no more bytes. */
  close(): void {
    this.#closed = true;
  }

  /** The answer to a `check` step. */
  judged(judgement: WindowVerdict): void {
    const judging = this.#judging;
    if (judging === undefined) throw new Error('a judgement came without a check');
    this.#judging = undefined;
    switch (judgement.kind) {
      case 'pass':
        judging.channel.pass(judging.window);
        return;
      case 'deny':
        this.#stop({ kind: 'denied' });
        return;
      case 'failed':
        this.#stop({ kind: 'check_failed', code: judgement.code });
        return;
    }
  }

  next(): GuardStep {
    for (;;) {
      if (this.#end !== undefined) return this.#takeOutgoing() ?? this.#end;
      if (this.#judging !== undefined) return this.#takeOutgoing() ?? this.#ask(this.#judging);
      this.#release();
      if (this.#beginCheck()) continue;
      if (this.#done) this.#finish();
      else if (!this.#takeEvent()) return this.#takeOutgoing() ?? { kind: 'read' };
    }
  }

  #ask(judging: Judging): GuardStep {
    if (judging.asked) throw new Error('a check has no judgement yet');
    judging.asked = true;
    return { kind: 'check', text: judging.window.text };
  }

  /** @returns false when more bytes are needed */
  #takeEvent(): boolean {
    const event = this.#reader.next();
    if (event !== undefined) this.#take(event);
    else if (this.#closed) this.#stop({ kind: 'upstream', fault: 'broken' });
    else return false;
    return true;
  }

  #take(event: SseEvent): void {
    switch (event.kind) {
      case 'comment':
        this.#outgoing.push(keepAliveFrame);
        return;
      case 'too_large':
        this.#stop({ kind: 'upstream', fault: 'event_too_large' });
        return;
      case 'data':
        if (event.name !== '' && event.name !== 'message') this.#stop({ kind: 'upstream', fault: 'invalid' });
        else this.#takeData(event.data);
        return;
    }
  }

  #takeData(data: Buffer): void {
    const chunk = readChunk(data);
    if (chunk.kind === 'done') {
      this.#done = true;
      if (!this.#content.end() || !this.#refusal.end()) this.#stop({ kind: 'upstream', fault: 'invalid' });
      return;
    }
    if (chunk.kind === 'invalid' || !this.#content.append(chunk.content) || !this.#refusal.append(chunk.refusal)) {
      this.#stop({ kind: 'upstream', fault: 'invalid' });
      return;
    }
    this.#held.push({ data, contentEnd: this.#content.length, refusalEnd: this.#refusal.length });
    this.#heldBytes += data.length;
    this.#release();
    if (this.#heldBytes > streamBounds.heldBytes) this.#stop({ kind: 'upstream', fault: 'held_too_much' });
  }

  #release(): void {
    let count = 0;
    for (const frame of this.#held) {
      if (frame.contentEnd > this.#content.releasedEnd || frame.refusalEnd > this.#refusal.releasedEnd) break;
      this.#outgoing.push(writeFrame(frame.data));
      this.#heldBytes -= frame.data.length;
      count += 1;
    }
    if (count > 0) this.#held = this.#held.slice(count);
  }

  #beginCheck(): boolean {
    for (const channel of [this.#content, this.#refusal]) {
      const window = channel.nextWindow();
      if (window === undefined) continue;
      this.#judging = { channel, window, asked: false };
      return true;
    }
    return false;
  }

  #finish(): void {
    if (this.#held.length > 0) throw new Error('a frame is held although all text has passed');
    this.#outgoing.push(doneFrame);
    this.#end = { kind: 'finished' };
  }

  /** What was released before may still leave; what is held is dropped. */
  #stop(stop: StreamStop): void {
    this.#held = [];
    this.#end = { kind: 'stopped', stop };
  }

  #takeOutgoing(): GuardStep | undefined {
    if (this.#outgoing.length === 0) return undefined;
    const bytes = Buffer.concat(this.#outgoing);
    this.#outgoing = [];
    return { kind: 'emit', bytes };
  }
}
