import { TextChannel } from '#checks/text-channel';
import type { SseDataEvent } from '#kit/http/sse-reader';
import { parseTree } from '#kit/json/parse-tree';
import type { RenameAnswer } from '../chat/rename-answer.ts';
import { bytesPerValue, maxChecks, textMemory } from '../chat/text-bounds.ts';
import { CallTexts, type CheckLimits } from '../judged/call-texts.ts';
import { readDeltaTexts } from '../judged/delta-texts.ts';
import type { Coverage } from '../judged/route-coverage.ts';
import { type ChannelWindow, checkTogether } from './check-together.ts';
import { FrameTemplate, keptPieces } from './frame-template.ts';
import { readChunk } from './read-chunk.ts';
import { type GuardCheck, SteppedGuard } from './stepped-guard.ts';
import { doneFrame, writeFrame } from './write-frame.ts';

/**
 * Bounds of one guarded stream in bytes (docs/design/streaming.md, "Bounds"): one event, all frames that are held, and
 * the frames without text that wait behind held text before that text is checked early.
 */
export const streamBounds = { eventBytes: 1_048_576, heldBytes: 1_048_576, waitingBytes: 65_536 } as const;

/**
 * Bounds of a stream whose tool calls are judged. Their frames are held until the end of the calls, and a frame of a
 * provider takes about ten times the bytes of the arguments in it.
 */
const judgedStreamBounds = { heldBytes: 16_777_216, furtherTexts: 32 } as const;

/** The further texts of a stream that are judged, and the limits of one check. */
export type StreamCoverage = Coverage & { readonly limits: CheckLimits };

/**
 * A held frame, and the position in each text at which it ends. `free`: it has no text and may be sent before held
 * text; `fixed`: it has no text and keeps its place; `call`: it has a piece of a tool call that is judged.
 */
type HeldFrame = {
  /** The bytes of the event as received; undefined for a frame of a known form. */
  readonly data: Buffer | undefined;
  /** The frame to send for a frame of a known form. */
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
  readonly kind: 'text' | 'free' | 'fixed' | 'call';
  /** In the order of the texts; a text that came later has none. */
  readonly ends: readonly number[];
};

/**
 * The guard of one streamed answer, without I/O: bytes of the upstream in, steps out (docs/design/streaming.md). The
 * caller does what each step of `next` says, until it is `finished` or `stopped`.
 * Content and refusal are separate texts, each with its own windows. A frame leaves, in order, when both texts are
 * released up to its end. When more than `waitingBytes` of frames without text wait behind held text, that text is
 * checked early and they leave before it. So every frame leaves after all text in front of it has passed a check, and
 * text leaves only up to 255 bytes before the end of the checked text.
 * Events are read one at a time, so the result does not depend on how the bytes were cut.
 * Where the binding has further texts judged, each of them has its own windows, and frames with tool calls are held
 * until all calls were judged (docs/design/judged-texts.md, "Streams").
 */
export class StreamGuard extends SteppedGuard {
  readonly #content = new TextChannel();
  readonly #refusal = new TextChannel();
  readonly #coverage: StreamCoverage | undefined;
  readonly #rename: RenameAnswer;
  /** Content, refusal, and the texts that are judged in addition, in the order in which they began. */
  readonly #channels: TextChannel[] = [this.#content, this.#refusal];
  /** The texts that are judged in addition, by the member that they come from. */
  readonly #further = new Map<string, TextChannel>();
  readonly #calls = new CallTexts();
  /** Used where only the texts of the contract are judged: a frame of a known form has no other ones. */
  readonly #template = new FrameTemplate();
  /** Checks of the tool calls that are still to be made; undefined while calls may follow. */
  #callChecks: (readonly string[])[] | undefined;
  #callTextBytes = 0;
  #held: HeldFrame[] = [];
  #heldBytes = 0;
  /** Total size of the held frames that may be sent before held text. */
  #waitingBytes = 0;
  #done = false;

  /**
   * @param coverage the further texts that are judged; undefined where only the texts of the contract are
   * @param rename is applied to each frame that is sent; its texts must stay
   */
  constructor(coverage?: StreamCoverage, rename: RenameAnswer = (frame) => frame) {
    super(streamBounds.eventBytes);
    this.#coverage = coverage;
    this.#rename = rename;
  }

  /** Memory of the frames that are held and of the texts of calls that are still to be judged, bytes. */
  get heldBytes(): number {
    return this.#heldBytes + this.#held.length * bytesPerValue + this.#callTextBytes;
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
    if (!this.#content.append(known.text)) {
      this.stop({ kind: 'upstream', fault: 'invalid' });
      return;
    }
    this.#hold({ data: undefined, pieces: keptPieces(known), bytes: data.length }, 'text');
    this.#releaseWithinBounds();
  }

  #takeUnknown(data: Buffer): void {
    const chunk = readChunk(data);
    if (chunk.kind === 'done') {
      this.#done = true;
      this.#endCalls();
      const wellFormed = this.#channels.map((channel) => channel.end());
      if (wellFormed.includes(false)) this.stop({ kind: 'upstream', fault: 'invalid' });
      return;
    }
    if (chunk.kind === 'invalid' || !this.#content.append(chunk.content) || !this.#refusal.append(chunk.refusal)) {
      this.stop({ kind: 'upstream', fault: 'invalid' });
      return;
    }
    if (chunk.isForeign && this.#coverage?.judged.has('parameters') !== true) {
      this.stop({ kind: 'upstream', fault: this.#coverage?.refuseUnjudged === true ? 'unjudged' : 'invalid' });
      return;
    }
    this.countText(chunk.textBytes);
    const further = this.#takeFurther(data);
    if (further === 'stopped') return;
    const hasText = chunk.content !== '' || chunk.refusal !== '' || further === 'text';
    const kind = further === 'call' ? 'call' : hasText ? 'text' : chunk.overtakes ? 'free' : 'fixed';
    this.#hold({ data: Buffer.from(data), pieces: [], bytes: data.length }, kind);
    const learns = this.#coverage === undefined && !chunk.inParts && chunk.content !== '' && chunk.refusal === '';
    if (learns) this.#template.learn(data, writeFrame(this.#rename(data)));
    this.#releaseWithinBounds();
  }

  #releaseWithinBounds(): void {
    this.#release();
    const { heldBytes } = this.#coverage === undefined ? streamBounds : judgedStreamBounds;
    if (this.#heldBytes > heldBytes) this.stop({ kind: 'upstream', fault: 'held_too_much' });
  }

  /** Takes the texts of a valid frame of the kinds that `judge` of the binding adds to content and refusal. */
  #takeFurther(data: Buffer): 'none' | 'text' | 'call' | 'stopped' {
    if (this.#coverage === undefined) return 'none';
    const frame = parseTree(data, { unpairedSurrogates: 'keep' });
    const { pieces, calls, isCall, unjudged } = readDeltaTexts(frame, data, this.#coverage);
    if (unjudged && this.#coverage.refuseUnjudged) {
      this.stop({ kind: 'upstream', fault: 'unjudged' });
      return 'stopped';
    }
    for (const { path, text } of pieces) {
      if (this.#channelOf(path)?.append(text) === true) continue;
      this.stop({ kind: 'upstream', fault: 'invalid' });
      return 'stopped';
    }
    this.#calls.add(calls);
    if (isCall) return 'call';
    return pieces.length > 0 ? 'text' : 'none';
  }

  /** @returns undefined when the stream has more texts than may be judged */
  #channelOf(path: string): TextChannel | undefined {
    const known = this.#further.get(path);
    if (known !== undefined) return known;
    if (this.#further.size >= judgedStreamBounds.furtherTexts) return undefined;
    const channel = new TextChannel();
    this.#further.set(path, channel);
    this.#channels.push(channel);
    return channel;
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

  #hold(frame: Pick<HeldFrame, 'data' | 'pieces' | 'bytes'>, kind: HeldFrame['kind']): void {
    // Frames behind a frame that keeps its place keep their places, too.
    const kept = kind === 'free' && this.#held.some((held) => held.kind === 'fixed') ? 'fixed' : kind;
    const ends = this.#channels.map(({ length }) => length);
    this.#held.push({ ...frame, kind: kept, ends });
    this.#heldBytes += frame.bytes;
    if (kept === 'free') this.#waitingBytes += frame.bytes;
  }

  #release(): void {
    const [oldest] = this.#held;
    if (oldest === undefined) return;
    if (this.#mayLeave(oldest)) {
      const first = this.#held.findIndex((frame) => !this.#mayLeave(frame));
      for (const frame of this.#held.splice(0, first === -1 ? this.#held.length : first)) this.#send(frame);
    }
    if (this.#waitingBytes === 0 || this.#channels.some(({ isChecked }) => !isChecked)) return;
    const overtaking = this.#held.filter(({ kind }) => kind === 'free');
    this.#held = this.#held.filter(({ kind }) => kind !== 'free');
    for (const frame of overtaking) this.#send(frame);
  }

  /** Whether all texts are released up to the end of the frame. */
  #mayLeave({ kind, ends }: HeldFrame): boolean {
    if (kind === 'call' && !this.#areCallsJudged) return false;
    return ends.every((end, index) => end <= (this.#channels[index]?.releasedEnd ?? 0));
  }

  #send({ data, pieces, bytes, kind }: HeldFrame): void {
    if (data !== undefined) this.emit(writeFrame(this.#rename(data)));
    for (const piece of pieces) this.emit(piece);
    this.#heldBytes -= bytes;
    if (kind === 'free') this.#waitingBytes -= bytes;
  }

  #nextCheck(): GuardCheck | undefined {
    const early = this.#waitingBytes > streamBounds.waitingBytes;
    const windows: ChannelWindow[] = [];
    for (const channel of this.#channels) {
      const window = early ? channel.earlyWindow() : channel.nextWindow();
      if (window === undefined) continue;
      if (this.#coverage === undefined) return { texts: [window.text], pass: () => channel.pass(window) };
      windows.push({ channel, window });
    }
    if (this.#coverage !== undefined && windows.length > 0) return checkTogether(windows, this.#coverage.limits);
    const texts = this.#callChecks?.[0];
    if (texts === undefined) return undefined;
    const pass = (): void => {
      this.#callChecks?.shift();
      this.#callTextBytes -= textMemory(texts);
    };
    return { texts, pass };
  }

  protected finish(): void {
    if (this.#held.length > 0)
      throw new Error('frames are still held although all text of the stream has passed its checks');
    this.emit(doneFrame);
  }

  protected drop(): void {
    this.#held = [];
  }
}
