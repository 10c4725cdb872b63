import type { CheckFailure } from '#checks/check-outcome';
import { readChunk } from './read-chunk.ts';
import { type SseEvent, SseReader } from './sse-reader.ts';
import { TextChannel, type TextWindow } from './text-channel.ts';
import { doneFrame, keepAliveFrame, writeFrame } from './write-frame.ts';

/**
 * Bounds of one guarded stream in bytes (docs/design/streaming.md, "Bounds"): one event, all frames that are held, and
 * the frames without text that wait behind held text before that text is checked early.
 */
export const streamBounds = { eventBytes: 1_048_576, heldBytes: 1_048_576, waitingBytes: 65_536 } as const;

/** Why a guarded stream was stopped. Frames that are held at that moment are dropped. */
export type StreamStop =
  | { readonly kind: 'denied' }
  | { readonly kind: 'check_failed'; readonly code: CheckFailure }
  | { readonly kind: 'upstream'; readonly fault: 'invalid' | 'event_too_large' | 'held_too_much' | 'broken' };

/** The next action of the caller. It answers `check` with `judged`, and `read` with `receive` or `close`. */
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

/**
 * A held frame, and the positions in content and refusal at which it ends. `free`: it has no text and may be sent
 * before held text; `fixed`: it has no text and keeps its place.
 */
type HeldFrame = {
  readonly data: Buffer;
  readonly kind: 'text' | 'free' | 'fixed';
  readonly contentEnd: number;
  readonly refusalEnd: number;
};
type PendingCheck = { readonly channel: TextChannel; readonly window: TextWindow; asked: boolean };

/**
 * The guard of one streamed answer, without I/O: bytes of the upstream in, steps out (docs/design/streaming.md). The
 * caller does what each step of `next` says, until it is `finished` or `stopped`.
 * Content and refusal are separate texts, each with its own windows. A frame leaves, in order, when both texts are
 * released up to its end. When more than `waitingBytes` of frames without text wait behind held text, that text is
 * checked early and they leave before it. So every frame leaves after all text in front of it has passed a check, and
 * text leaves only up to 255 bytes before the end of the checked text.
 * Events are read one at a time, so the result does not depend on how the bytes were cut.
 */
export class StreamGuard {
  readonly #reader = new SseReader(streamBounds.eventBytes);
  readonly #content = new TextChannel();
  readonly #refusal = new TextChannel();
  #held: HeldFrame[] = [];
  #heldBytes = 0;
  /** Total size of the held frames that may be sent before held text. */
  #waitingBytes = 0;
  #outgoing: Buffer[] = [];
  #pending: PendingCheck | undefined;
  #closed = false;
  #done = false;
  #end: Extract<GuardStep, { kind: 'finished' | 'stopped' }> | undefined;

  /** Receives the next bytes of the upstream. */
  receive(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  /** Records that the upstream sends no more bytes. */
  close(): void {
    this.#closed = true;
  }

  /** Receives the verdict of the window that a `check` step returned. */
  judged(verdict: WindowVerdict): void {
    const check = this.#pending;
    if (check === undefined) throw new Error('a verdict arrived although no check of a window is pending');
    this.#pending = undefined;
    switch (verdict.kind) {
      case 'pass':
        check.channel.pass(check.window);
        return;
      case 'deny':
        this.#stop({ kind: 'denied' });
        return;
      case 'failed':
        this.#stop({ kind: 'check_failed', code: verdict.code });
        return;
    }
  }

  next(): GuardStep {
    for (;;) {
      if (this.#end !== undefined) return this.#takeOutgoing() ?? this.#end;
      if (this.#pending !== undefined) return this.#takeOutgoing() ?? this.#ask(this.#pending);
      this.#release();
      if (this.#beginCheck()) continue;
      if (this.#done) this.#finish();
      else if (!this.#takeEvent()) return this.#takeOutgoing() ?? { kind: 'read' };
    }
  }

  #ask(check: PendingCheck): GuardStep {
    if (check.asked) throw new Error('the next step was requested before the pending check had its verdict');
    check.asked = true;
    return { kind: 'check', text: check.window.text };
  }

  /** @returns false when the guard needs more bytes of the upstream */
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
    const hasText = chunk.content !== '' || chunk.refusal !== '';
    this.#hold(data, hasText ? 'text' : chunk.overtakes ? 'free' : 'fixed');
    this.#release();
    if (this.#heldBytes > streamBounds.heldBytes) this.#stop({ kind: 'upstream', fault: 'held_too_much' });
  }

  #hold(data: Buffer, kind: HeldFrame['kind']): void {
    // Frames behind a frame that keeps its place keep their places, too.
    const kept = kind === 'free' && this.#held.some((frame) => frame.kind === 'fixed') ? 'fixed' : kind;
    this.#held.push({ data, kind: kept, contentEnd: this.#content.length, refusalEnd: this.#refusal.length });
    this.#heldBytes += data.length;
    if (kept === 'free') this.#waitingBytes += data.length;
  }

  #release(): void {
    const { releasedEnd: contentEnd } = this.#content;
    const { releasedEnd: refusalEnd } = this.#refusal;
    const first = this.#held.findIndex((frame) => frame.contentEnd > contentEnd || frame.refusalEnd > refusalEnd);
    for (const frame of this.#held.splice(0, first === -1 ? this.#held.length : first)) this.#send(frame);
    if (this.#waitingBytes === 0 || !this.#content.isChecked || !this.#refusal.isChecked) return;
    const overtaking = this.#held.filter(({ kind }) => kind === 'free');
    this.#held = this.#held.filter(({ kind }) => kind !== 'free');
    for (const frame of overtaking) this.#send(frame);
  }

  #send({ data, kind }: HeldFrame): void {
    this.#outgoing.push(writeFrame(data));
    this.#heldBytes -= data.length;
    if (kind === 'free') this.#waitingBytes -= data.length;
  }

  #beginCheck(): boolean {
    const early = this.#waitingBytes > streamBounds.waitingBytes;
    for (const channel of [this.#content, this.#refusal]) {
      const window = early ? channel.earlyWindow() : channel.nextWindow();
      if (window === undefined) continue;
      this.#pending = { channel, window, asked: false };
      return true;
    }
    return false;
  }

  #finish(): void {
    if (this.#held.length > 0)
      throw new Error('frames are still held although all text of the stream has passed its checks');
    this.#outgoing.push(doneFrame);
    this.#end = { kind: 'finished' };
  }

  /** Frames that were released before the stop are still sent; held frames are dropped. */
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
