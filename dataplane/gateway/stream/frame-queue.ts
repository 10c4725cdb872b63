import { type FrameText, KeptOrder } from './kept-order.ts';
import type { LoneTexts } from './lone-texts.ts';
import type { StreamTexts } from './stream-texts.ts';

/**
 * A held frame. `free`: it may be sent before held text, because it has no text, or repeats values that have passed a check;
 * `fixed`: it has no text and keeps its place; `call`: it has a piece of a tool call that is judged.
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
  /** How many lone texts must have passed before the frame is sent. */
  readonly loneEnd: number;
  /** Whether the frame may be sent before held text once its own texts are released. */
  readonly overtakes: boolean;
  /** Members without a check whose pieces clients join. */
  readonly joined: readonly string[];
  /** Whether a frame with text keeps its place: clients keep the order of parts, and a finish reason must be last. */
  readonly keepsPlace: boolean;
  /** Whether the frame has a finish reason. */
  readonly isFinish: boolean;
};

/**
 * The frames of a stream that wait for their checks, and the order in which they are sent (docs/design/streaming.md,
 * "Frames"). A frame is sent only when each of its own texts is released up to the end of the frame, and all earlier
 * text has passed a check.
 */
export class FrameQueue {
  readonly #texts: StreamTexts;
  readonly #lone: LoneTexts;
  #held: QueuedFrame[] = [];
  #bytes = 0;
  /** Total size of the held frames that may be sent before held text. */
  #freeBytes = 0;
  /** The number of held frames after which all frames keep their places. */
  #fixed = 0;
  /** The order of the held frames that are not free; undefined after one of these frames was sent. */
  #kept: KeptOrder | undefined = new KeptOrder();
  /** Whether a check has passed since the last search for frames that may be sent before others. */
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

  /** Total size of the held frames that may be sent before held text, bytes. */
  get freeBytes(): number {
    return this.#freeBytes;
  }

  hold(frame: QueuedFrame): void {
    this.#kept ??= new KeptOrder(this.#held.filter(({ kind }) => kind !== 'free'));
    const kind = this.#fixed > 0 ? (frame.kind === 'free' ? 'fixed' : frame.kind) : kindBehind(this.#kept, frame);
    const kept: QueuedFrame = kind === frame.kind ? frame : { ...frame, kind };
    this.#held.push(kept);
    this.#count(kept, 1);
    if (kind !== 'free') this.#kept.add(kept);
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
      this.#setFree();
    }
    if (this.#freeBytes > 0 && this.#texts.areChecked && this.#lone.size === 0)
      leaving.push(...this.#take(new Set(this.#held.filter(({ kind }) => kind === 'free'))));
    return leaving;
  }

  drop(): void {
    this.#held = [];
  }

  /** Takes the frames before the first frame that has to wait. */
  #takeFirst(areCallsJudged: boolean): QueuedFrame[] {
    const mayLeave = (frame: QueuedFrame): boolean =>
      (frame.kind !== 'call' || areCallsJudged) && this.#isReleased(frame);
    const [oldest] = this.#held;
    if (oldest === undefined || !mayLeave(oldest)) return [];
    const first = this.#held.findIndex((frame) => !mayLeave(frame));
    const leaving = this.#held.splice(0, first === -1 ? this.#held.length : first);
    this.#left(leaving);
    return leaving;
  }

  /** Marks the frames as free whose values have passed since they arrived. */
  #setFree(): void {
    const kept = new KeptOrder();
    let isBehindFixed = false;
    this.#held = this.#held.map((frame) => {
      isBehindFixed ||= isFixed(frame);
      const kind = isBehindFixed || frame.kind === 'free' ? frame.kind : kindBehind(kept, frame);
      if (kind === frame.kind) {
        if (kind !== 'free') kept.add(frame);
        return frame;
      }
      const free: QueuedFrame = { ...frame, kind };
      this.#count(frame, -1);
      this.#count(free, 1);
      return free;
    });
    this.#kept = kept;
  }

  /**
   * The frames that are sent before earlier frames which wait for the tail of a paused text: frames whose own texts are
   * released, up to the first frame that has unchecked text, waits for another text, or keeps its place. The frames of
   * one text are never reordered, unless they repeat one value of that text. Frames without text are sent with the next
   * frame that has text.
   */
  #passing(): ReadonlySet<QueuedFrame> {
    const passing = new Set<QueuedFrame>();
    const passed = new KeptOrder();
    let free: QueuedFrame[] = [];
    for (const frame of this.#held) {
      const { kind, texts } = frame;
      if (kind === 'fixed' || kind === 'call' || frame.keepsPlace || !this.#isChecked(frame)) break;
      if (kind === 'free' && texts.length === 0) free.push(frame);
      else if (this.#isReleased(frame) && !passed.isBefore(frame)) {
        for (const one of [...free, frame]) passing.add(one);
        free = [];
      } else if (this.#standsStill(frame)) passed.add(frame);
      else break;
    }
    return passing;
  }

  #isReleased({ texts, loneEnd }: QueuedFrame): boolean {
    return loneEnd <= this.#lone.passedEnd && texts.every(isOut);
  }

  #isChecked({ texts, loneEnd }: QueuedFrame): boolean {
    return loneEnd <= this.#lone.passedEnd && texts.every(({ channel, end }) => end <= channel.checkedEnd);
  }

  /** Whether every text for which the frame waits has paused. */
  #standsStill({ texts }: QueuedFrame): boolean {
    return texts.every((text) => isOut(text) || this.#texts.standsStill(text.channel));
  }

  #take(frames: ReadonlySet<QueuedFrame>): readonly QueuedFrame[] {
    if (frames.size === 0) return [];
    this.#held = this.#held.filter((frame) => !frames.has(frame));
    this.#left([...frames]);
    return [...frames];
  }

  #left(frames: readonly QueuedFrame[]): void {
    for (const frame of frames) this.#count(frame, -1);
    if (frames.some(({ kind }) => kind !== 'free')) this.#kept = undefined;
  }

  #count(frame: QueuedFrame, sign: 1 | -1): void {
    this.#bytes += sign * frame.bytes;
    if (frame.kind === 'free') this.#freeBytes += sign * frame.bytes;
    if (isFixed(frame)) this.#fixed += sign;
  }
}

/** Whether all frames after a frame keep their places. */
function isFixed({ kind, isFinish }: QueuedFrame): boolean {
  return kind === 'fixed' || isFinish;
}

/** The kind of a frame that follows held frames and may have to keep their order. */
function kindBehind(kept: KeptOrder, frame: QueuedFrame): QueuedFrame['kind'] {
  const { kind, overtakes, texts } = frame;
  if (kind === 'call' || !overtakes || !texts.every(isOut)) return kind;
  return kept.isBefore(frame) ? 'text' : 'free';
}

function isOut({ channel, end }: FrameText): boolean {
  return end <= channel.releasedEnd;
}
