import type { TextChannel } from '#checks/text-channel';
import type { SseDataEvent } from '#kit/http/sse-reader';
import { parseTree } from '#kit/json/parse-tree';
import type { RenameAnswer } from '../chat/rename-answer.ts';
import { bytesPerValue, maxChecks, textMemory } from '../chat/text-bounds.ts';
import { CallTexts, type CheckLimits } from '../judged/call-texts.ts';
import { isJudgedMember, readDeltaTexts } from '../judged/delta-texts.ts';
import type { Coverage } from '../judged/route-coverage.ts';
import { checkTogether } from './check-together.ts';
import { FrameQueue } from './frame-queue.ts';
import { FrameTemplate } from './frame-template.ts';
import { FurtherTexts } from './further-texts.ts';
import { LoneTexts } from './lone-texts.ts';
import { readChunk } from './read-chunk.ts';
import { type GuardCheck, SteppedGuard } from './stepped-guard.ts';
import { StreamTexts } from './stream-texts.ts';
import { doneFrame, writeFrame } from './write-frame.ts';

/**
 * Bounds of one guarded stream in bytes (docs/design/streaming.md, "Bounds"): one event, all frames that are held, and
 * the frames without text that wait behind held text before that text is checked early.
 */
export const streamBounds = { eventBytes: 1_048_576, heldBytes: 1_048_576, waitingBytes: 65_536 } as const;

/** Bytes of frames after which values and lone texts are judged although no window is complete. */
const valueBytes = 32_768;

/**
 * Limits of a stream whose tool calls are judged. Frames with tool calls are held until the end of the calls, and a
 * frame takes about ten times the bytes of the arguments in it.
 */
const judgedStreamBounds = { heldBytes: 16_777_216 } as const;

/** The further texts of one frame: the texts that grew, and how many lone texts must pass before the frame is sent. */
type TakenFurther = {
  readonly grown: Iterable<readonly [TextChannel, object | undefined]>;
  readonly loneEnd: number;
  readonly isCall: boolean;
};

/** The further texts of a stream that are judged, and the limits of one check. */
export type StreamCoverage = Coverage & { readonly limits: CheckLimits };

/**
 * The guard of one streamed answer, without I/O: bytes of the upstream in, steps out (docs/design/streaming.md). The
 * caller executes each step of `next`, until it is `finished` or `stopped`. Content and refusal are separate texts,
 * each with its own windows. A frame is sent when its own texts are released up to its end and all earlier text has
 * passed a check, and text is sent only up to 255 bytes before the end of the checked text. Frames are sent in order,
 * except those that may be sent before held text of another kind: see FrameQueue. When more than `waitingBytes` of
 * frames without text wait after held text, that text is checked early. Events are read one at a time, so that the
 * result does not depend on how the bytes are split into pieces. If the binding adds further judged texts, each of them
 * has its own windows, and frames with tool calls are held until all calls were judged (docs/design/judged-texts.md,
 * "Streams").
 */
export class StreamGuard extends SteppedGuard {
  readonly #texts = new StreamTexts();
  readonly #lone = new LoneTexts();
  readonly #frames = new FrameQueue(this.#texts, this.#lone, streamBounds.waitingBytes);
  readonly #further = new FurtherTexts(this.#texts);
  readonly #coverage: StreamCoverage | undefined;
  readonly #rename: RenameAnswer;
  readonly #calls = new CallTexts();
  /**
   * Finds the texts of frames of a known form. It is used if only the texts of the contract are judged, because such
   * frames have no other texts.
   */
  readonly #template = new FrameTemplate();
  /** Checks of the tool calls that are still to be made; undefined while calls may follow. */
  #callChecks: (readonly string[])[] | undefined;
  #callTextBytes = 0;
  /** Bytes of frames that arrived after the last check of all waiting texts. */
  #uncheckedBytes = 0;
  #done = false;

  /**
   * @param coverage the further texts that are judged; undefined if only the texts of the contract are judged
   * @param rename is applied to each frame that is sent; it must not change the texts
   */
  constructor(coverage?: StreamCoverage, rename: RenameAnswer = (frame) => frame) {
    super(streamBounds.eventBytes);
    this.#coverage = coverage;
    this.#rename = rename;
  }

  /** Memory of the frames that are held and of the texts of calls that are still to be judged, bytes. */
  get heldBytes(): number {
    const texts = this.#callTextBytes + this.#lone.heldBytes + this.#further.heldBytes;
    return this.#frames.bytes + this.#frames.size * bytesPerValue + texts;
  }

  protected prepare(): GuardCheck | 'end' | undefined {
    this.#release();
    return this.#nextCheck() ?? (this.#done ? 'end' : undefined);
  }

  protected take({ name, data }: SseDataEvent): void {
    if (name !== '' && name !== 'message') this.stop({ kind: 'upstream', fault: 'invalid' });
    else this.#takeData(data);
  }

  #takeData(data: Buffer): void {
    const known = this.#coverage === undefined ? this.#template.match(data) : undefined;
    if (known === undefined) {
      this.#takeUnknown(data);
      return;
    }
    this.countText(Buffer.byteLength(known.text));
    const { content } = this.#texts;
    if (!this.#texts.append(content, known.text)) {
      this.stop({ kind: 'upstream', fault: 'invalid' });
      return;
    }
    const texts = [{ channel: content, end: content.length, value: undefined }];
    this.#frames.hold({
      data: undefined,
      sent: known.sent,
      bytes: data.length,
      kind: 'text',
      texts,
      loneEnd: 0,
      overtakes: false,
      joined: [],
      keepsPlace: false,
      isFinish: false,
    });
    this.#releaseWithinBounds();
  }

  #takeUnknown(data: Buffer): void {
    const chunk = readChunk(data);
    if (chunk.kind === 'done') {
      this.#done = true;
      this.#endCalls();
      if (!this.#texts.end()) this.stop({ kind: 'upstream', fault: 'invalid' });
      return;
    }
    const { content, refusal } = this.#texts;
    const isValid =
      chunk.kind === 'chunk' &&
      this.#texts.append(content, chunk.content) &&
      this.#texts.append(refusal, chunk.refusal);
    if (!isValid) {
      this.stop({ kind: 'upstream', fault: 'invalid' });
      return;
    }
    if (chunk.isForeign && this.#coverage?.judged.has('parameters') !== true) {
      this.stop({ kind: 'upstream', fault: this.#coverage?.refuseUnjudged === true ? 'unjudged' : 'invalid' });
      return;
    }
    this.countText(chunk.textBytes);
    const further = this.#takeFurther(data);
    if (further === undefined) return;
    const grown: readonly (readonly [TextChannel, object | undefined])[] = [
      ...(chunk.content === '' ? [] : [[content, undefined] as const]),
      ...(chunk.refusal === '' ? [] : [[refusal, undefined] as const]),
      ...further.grown,
    ];
    const { loneEnd, isCall } = further;
    const joined = chunk.joined.filter((key) => !isJudgedMember(key, this.#coverage?.judged));
    this.#uncheckedBytes += data.length;
    this.#frames.hold({
      data: Buffer.from(data),
      sent: undefined,
      bytes: data.length,
      kind: isCall ? 'call' : grown.length > 0 ? 'text' : chunk.overtakes ? 'free' : 'fixed',
      texts: grown.map(([channel, value]) => ({ channel, end: channel.length, value })),
      loneEnd,
      overtakes: chunk.overtakes,
      joined,
      keepsPlace: chunk.keepsPlace,
      isFinish: chunk.isFinish,
    });
    const hasContent = !chunk.inParts && chunk.content !== '' && chunk.refusal === '' && joined.length === 0;
    const learns = this.#coverage === undefined && hasContent && !chunk.isFinish;
    if (learns) this.#template.learn(data, writeFrame(this.#rename(data)));
    this.#releaseWithinBounds();
  }

  #releaseWithinBounds(): void {
    const { heldBytes } = this.#coverage === undefined ? streamBounds : judgedStreamBounds;
    if (this.#frames.bytes <= heldBytes) return;
    this.#release();
    if (this.#frames.bytes > heldBytes) this.stop({ kind: 'upstream', fault: 'held_too_much' });
  }

  /**
   * Takes the texts of a valid frame of the kinds that `judge` of the binding adds to content and refusal.
   * @returns the texts that grew, and how many lone texts pass before the frame; undefined when the stream was stopped
   */
  #takeFurther(data: Buffer): TakenFurther | undefined {
    if (this.#coverage === undefined) return { grown: [], loneEnd: 0, isCall: false };
    const frame = parseTree(data, { unpairedSurrogates: 'keep' });
    const { pieces, lone, calls, isCall, unjudged, words } = readDeltaTexts(frame, data, this.#coverage);
    if (this.#coverage.refuseUnjudged && (unjudged || !this.#further.areWords(words))) {
      this.stop({ kind: 'upstream', fault: 'unjudged' });
      return undefined;
    }
    const grown = this.#further.append(pieces);
    if (grown === undefined) {
      this.stop({ kind: 'upstream', fault: 'invalid' });
      return undefined;
    }
    this.#calls.add(calls);
    const texts = [...lone, ...this.#further.glued(pieces)];
    this.#lone.add(texts, this.#coverage.limits);
    if (this.#lone.size > maxChecks * this.#coverage.limits.maxMessages) {
      this.stop({ kind: 'upstream', fault: 'held_too_much' });
      return undefined;
    }
    return { grown, loneEnd: texts.length === 0 ? 0 : this.#lone.end, isCall };
  }

  /** Plans the checks of the tool calls: no call follows. */
  #endCalls(): void {
    if (this.#coverage === undefined) return;
    this.#callChecks = [...this.#calls.checks(this.#coverage.limits)];
    this.#callTextBytes = textMemory(this.#callChecks.flat());
    if (this.#callChecks.length > maxChecks) this.stop({ kind: 'upstream', fault: 'held_too_much' });
  }

  get #areCallsJudged(): boolean {
    return this.#coverage === undefined || this.#callChecks?.length === 0;
  }

  #release(): void {
    for (const { data, sent } of this.#frames.release(this.#areCallsJudged)) {
      if (data !== undefined) this.emit(writeFrame(this.#rename(data)));
      if (sent !== undefined) this.emit(sent);
    }
  }

  #nextCheck(): GuardCheck | undefined {
    if (this.#coverage === undefined) {
      const [first] = this.#texts.nextWindows(this.#isEarly ? 'all' : 'none');
      return first === undefined ? undefined : { texts: [first.text], pass: this.#passing(first.pass) };
    }
    const early = this.#isEarly ? 'all' : this.#uncheckedBytes > valueBytes ? 'values' : 'none';
    const windows = this.#texts.nextWindows(early);
    if (windows.length === 0 && early === 'none' && !this.#done) return undefined;
    const waiting = [...this.#lone.next(this.#coverage.limits.maxMessages), ...windows];
    if (waiting.length === 0) return this.#nextCallCheck();
    const { texts, pass } = checkTogether(waiting, this.#coverage.limits);
    const isLast = texts.length === waiting.length;
    return {
      texts,
      pass: this.#passing(() => {
        pass();
        if (isLast) this.#uncheckedBytes = 0;
      }),
    };
  }

  /** Whether so many frames without text wait after held text that this text is checked early. */
  get #isEarly(): boolean {
    return this.#frames.freeBytes > streamBounds.waitingBytes;
  }

  #passing(pass: () => void): () => void {
    return () => {
      pass();
      this.#frames.checked();
    };
  }

  #nextCallCheck(): GuardCheck | undefined {
    const texts = this.#callChecks?.[0];
    if (texts === undefined) return undefined;
    const pass = (): void => {
      this.#callChecks?.shift();
      this.#callTextBytes -= textMemory(texts);
    };
    return { texts, pass };
  }

  protected finish(): void {
    if (this.#frames.size > 0)
      throw new Error('frames are still held although all text of the stream has passed its checks');
    this.emit(doneFrame);
  }

  protected drop(): void {
    this.#frames.drop();
  }
}
