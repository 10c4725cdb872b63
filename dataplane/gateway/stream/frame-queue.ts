import type { TextChannel } from '#checks/text-channel';
import type { LoneTexts } from './lone-texts.ts';
import type { StreamTexts } from './stream-texts.ts';

/** A text of a frame, and the position in it at which the frame ends. */
type FrameText = { readonly channel: TextChannel; readonly end: number };

/**
 * A held frame. `free`: it has no text and may be sent before held text; `fixed`: it has no text and keeps its place; `call`:
 * it has a piece of a tool call that is judged.
 */
type QueuedFrame = {
  /** The bytes of the event as received; undefined for a frame of a known form. */
  readonly data: Buffer | undefined;
  /** The frame to send for a frame of a known form. */
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
  readonly kind: 'text' | 'free' | 'fixed' | 'call';
  /** The texts that grow by the frame. */
  readonly texts: readonly FrameText[];
  /** How many lone texts pass before the frame leaves. */
  readonly loneEnd: number;
  /** Whether a frame with text keeps its place: clients keep the order of parts, and a finish reason comes last. */
  readonly keepsPlace: boolean;
};

/**
 * The frames of a stream that wait for their checks, and the order in which they leave (docs/design/streaming.md,
 * "Frames"). A frame is sent only when each of its own texts is released up to its end, and all earlier text has passed
 * a check.
 */
export class FrameQueue {
  readonly #texts: StreamTexts;
  readonly #lone: LoneTexts;
  #held: QueuedFrame[] = [];
  #bytes = 0;
  /** Total size of the held frames that may be sent before held text. */
  #freeBytes = 0;
  #fixed = 0;
  /** Whether a check has passed since the last search for frames that leave before others. */
  #isStale = false;

  constructor(texts: StreamTexts, lone: LoneTexts) {
    this.#texts = texts;
    this.#lone = lone;
  }

  get size(): number {
    return this.#held.length;
  }

  /** Total size of the held frames, bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Total size of the held frames without text that may be sent before held text, bytes. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  hold(frame: QueuedFrame): void {
    // Frames after a frame that keeps its place keep their places, too.
    const kept: QueuedFrame = frame.kind === 'free' && this.#fixed > 0 ? { ...frame, kind: 'fixed' } : frame;
    this.#held.push(kept);
    this.#count(kept, 1);
  }

  /** Records that a check of texts has passed. */
  checked(): void {
    this.#isStale = true;
  }

  /**
   * Takes the frames that may leave now, in the order in which they leave.
   * @param areCallsJudged whether all tool calls that are judged have passed
   */
  release(areCallsJudged: boolean): readonly QueuedFrame[] {
    const leaving = this.#takeFirst(areCallsJudged);
    if (this.#isStale) {
      this.#isStale = false;
      leaving.push(...this.#take(this.#passing()));
    }
    if (this.#freeBytes > 0 && this.#texts.areChecked && this.#lone.size === 0)
      leaving.push(...this.#take(new Set(this.#held.filter(({ kind }) => kind === 'free'))));
    return leaving;
  }

  drop(): void {
    this.#held = [];
  }

  /** Takes the frames up to the first one that has to wait. */
  #takeFirst(areCallsJudged: boolean): QueuedFrame[] {
    const mayLeave = (frame: QueuedFrame): boolean =>
      (frame.kind !== 'call' || areCallsJudged) && this.#isReleased(frame);
    const [oldest] = this.#held;
    if (oldest === undefined || !mayLeave(oldest)) return [];
    const first = this.#held.findIndex((frame) => !mayLeave(frame));
    const leaving = this.#held.splice(0, first === -1 ? this.#held.length : first);
    for (const frame of leaving) this.#count(frame, -1);
    return leaving;
  }

  /**
   * The frames that are sent before earlier frames which wait for the tail of a paused text: frames whose own texts are
   * released, up to the first frame that has text without a check, waits for another text, or keeps its place. The
   * frames of one text never pass each other. Frames without text are sent with the next frame that has text.
   */
  #passing(): ReadonlySet<QueuedFrame> {
    const passing = new Set<QueuedFrame>();
    const passed = new Set<TextChannel>();
    let free: QueuedFrame[] = [];
    for (const frame of this.#held) {
      const { kind, texts } = frame;
      if (kind === 'fixed' || kind === 'call' || frame.keepsPlace || !this.#isChecked(frame)) break;
      if (kind === 'free') free.push(frame);
      else if (this.#isReleased(frame) && !texts.some(({ channel }) => passed.has(channel))) {
        for (const one of [...free, frame]) passing.add(one);
        free = [];
      } else if (this.#standsStill(frame)) {
        for (const { channel } of texts) passed.add(channel);
      } else break;
    }
    return passing;
  }

  #isReleased({ texts, loneEnd }: QueuedFrame): boolean {
    return loneEnd <= this.#lone.passedEnd && texts.every(isOut);
  }

  #isChecked({ texts, loneEnd }: QueuedFrame): boolean {
    return loneEnd <= this.#lone.passedEnd && texts.every(({ channel, end }) => end <= channel.checkedEnd);
  }

  /** Whether each text for which the frame waits stands still. */
  #standsStill({ texts }: QueuedFrame): boolean {
    return texts.every((text) => isOut(text) || this.#texts.standsStill(text.channel));
  }

  #take(frames: ReadonlySet<QueuedFrame>): readonly QueuedFrame[] {
    if (frames.size === 0) return [];
    this.#held = this.#held.filter((frame) => !frames.has(frame));
    for (const frame of frames) this.#count(frame, -1);
    return [...frames];
  }

  #count({ kind, bytes }: QueuedFrame, sign: 1 | -1): void {
    this.#bytes += sign * bytes;
    if (kind === 'free') this.#freeBytes += sign * bytes;
    if (kind === 'fixed') this.#fixed += sign;
  }
}

function isOut({ channel, end }: FrameText): boolean {
  return end <= channel.releasedEnd;
}
