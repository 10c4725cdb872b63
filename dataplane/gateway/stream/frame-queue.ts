import { divideFrame } from './divide-frame.ts';
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
  /** The bytes that are sent for a frame of a known form, a character of Latin-1 for each; undefined for another one. */
  readonly sent: string | undefined;
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
  /** Whether the frame could be sent before held text, but waits for a frame in front of it to keep the order of their pieces. */
  readonly isBehind?: true;
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
  /** Total size of the held frames that wait for the pieces of a frame in front of them, and how many held frames can be divided. */
  #behindBytes = 0;
  #divisible = 0;
  readonly #waitingBytes: number;
  /** Size of these frames above which held frames are divided. */
  #divideAt: number;
  /** Whether a check has passed since the last search for frames that leave before others. */
  #isStale = false;

  /** @param waitingBytes bytes of frames that may wait for the pieces of a frame with held text before it is divided */
  constructor(texts: StreamTexts, lone: LoneTexts, waitingBytes: number) {
    this.#texts = texts;
    this.#lone = lone;
    this.#waitingBytes = waitingBytes;
    this.#divideAt = waitingBytes;
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
    const isBehind = this.#fixed === 0 && kind === 'text' && frame.overtakes && frame.texts.every(isOut);
    const kept: QueuedFrame = isBehind
      ? { ...frame, kind, isBehind }
      : kind === frame.kind
        ? frame
        : { ...frame, kind };
    this.#held.push(kept);
    this.#count(kept, 1);
    if (kind !== 'free') this.#kept.add(kept);
    if (this.#divisible > 0 && this.#behindBytes > this.#divideAt) this.#divide();
  }

  /**
   * Divides the held frames that have held text and pieces which clients join, so that these pieces and those behind them can be sent
   * before the text, in their order.
   */
  #divide(): void {
    this.#held = this.#held.flatMap((frame) => {
      const { data } = frame;
      if (!isDivisible(frame) || data === undefined || frame.texts.every(isOut)) return [frame];
      const { text, pieces } = divideFrame(data, frame.joined);
      const divided: readonly QueuedFrame[] = [
        { ...frame, data: text, bytes: text.length, joined: [] },
        { ...frame, data: pieces, bytes: pieces.length, texts: [], overtakes: true, isBehind: true },
      ];
      this.#count(frame, -1);
      for (const one of divided) this.#count(one, 1);
      return divided;
    });
    this.#setFree();
    this.#divideAt = this.#behindBytes + this.#waitingBytes;
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
      const { isBehind: _, ...rest } = frame;
      const free: QueuedFrame = { ...rest, kind };
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
    if (this.#behindBytes === 0) this.#divideAt = this.#waitingBytes;
  }

  #count(frame: QueuedFrame, sign: 1 | -1): void {
    this.#bytes += sign * frame.bytes;
    if (frame.kind === 'free') this.#freeBytes += sign * frame.bytes;
    if (frame.isBehind === true) this.#behindBytes += sign * frame.bytes;
    if (isFixed(frame)) this.#fixed += sign;
    if (isDivisible(frame)) this.#divisible += sign;
  }
}

/** Whether a frame has text and pieces which clients join, and no place that it keeps. */
function isDivisible({ data, kind, texts, joined, keepsPlace }: QueuedFrame): boolean {
  return data !== undefined && kind === 'text' && texts.length > 0 && joined.length > 0 && !keepsPlace;
}

/** Whether all frames behind a frame keep their places. */
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
