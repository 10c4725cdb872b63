import type { CheckFailure } from '#checks/check-outcome';
import { TextChannel } from '#checks/text-channel';
import { type SseEvent, SseReader } from '#kit/http/sse-reader';
import type { RenameAnswer } from '../chat/rename-answer.ts';
import { CallTexts, type CheckLimits } from '../judged/call-texts.ts';
import { readDeltaTexts } from '../judged/delta-texts.ts';
import type { Coverage } from '../judged/route-coverage.ts';
import { readChunk } from './read-chunk.ts';
import { doneFrame, keepAliveFrame, writeFrame } from './write-frame.ts';

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

/** Why a guarded stream was stopped. Frames that are held at that moment are dropped. */
export type StreamStop =
  | { readonly kind: 'denied' }
  | { readonly kind: 'check_failed'; readonly code: CheckFailure }
  | {
      readonly kind: 'upstream';
      readonly fault: 'invalid' | 'event_too_large' | 'held_too_much' | 'broken' | 'unjudged' | 'failed';
    };

/** The next action of the caller. It answers `check` with `judged`, and `read` with `receive` or `close`. */
export type GuardStep =
  | { readonly kind: 'emit'; readonly bytes: Buffer }
  | { readonly kind: 'check'; readonly texts: readonly string[] }
  | { readonly kind: 'read' }
  | { readonly kind: 'finished' }
  | { readonly kind: 'stopped'; readonly stop: StreamStop };

export type WindowVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'deny' }
  | { readonly kind: 'failed'; readonly code: CheckFailure };

/**
 * A held frame, and the position in each text at which it ends. `free`: it has no text and may be sent before held
 * text; `fixed`: it has no text and keeps its place; `call`: it has a piece of a tool call that is judged.
 */
type HeldFrame = {
  readonly data: Buffer;
  readonly kind: 'text' | 'free' | 'fixed' | 'call';
  /** In the order of the texts; a text that came later has none. */
  readonly ends: readonly number[];
};
/** A window of one text, or a check of tool calls. */
type PendingCheck = { readonly texts: readonly string[]; readonly pass: () => void; asked: boolean };

/**
 * The guard of one streamed answer, without I/O: bytes of the upstream in, steps out (docs/design/streaming.md). The
 * caller does what each step of `next` says, until it is `finished` or `stopped`.
 * Content and refusal are separate texts, each with its own windows. A frame leaves, in order, when both texts are
 * released up to its end. When more than `waitingBytes` of frames without text wait behind held text, that text is
 * checked early and they leave before it. So every frame leaves after all text in front of it has passed a check, and
 * text leaves only up to 255 bytes before the end of the checked text.
 * Events are read one at a time, so the result does not depend on how the bytes were cut.
 * Where the binding has further texts judged, each of them has windows of its own, and frames with tool calls are held
 * until all calls were judged (docs/design/judged-texts.md, "Streams").
 */
export class StreamGuard {
  readonly #reader = new SseReader(streamBounds.eventBytes);
  readonly #content = new TextChannel();
  readonly #refusal = new TextChannel();
  readonly #coverage: StreamCoverage | undefined;
  readonly #rename: RenameAnswer;
  /** Content, refusal, and the texts that are judged in addition, in the order in which they began. */
  readonly #channels: TextChannel[] = [this.#content, this.#refusal];
  /** The texts that are judged in addition, by the member that they come from. */
  readonly #further = new Map<string, TextChannel>();
  readonly #calls = new CallTexts();
  /** Checks of the tool calls that are still to be made; undefined while calls may follow. */
  #callChecks: (readonly string[])[] | undefined;
  #held: HeldFrame[] = [];
  #heldBytes = 0;
  /** Total size of the held frames that may be sent before held text. */
  #waitingBytes = 0;
  #outgoing: Buffer[] = [];
  #pending: PendingCheck | undefined;
  #closed = false;
  #done = false;
  #end: Extract<GuardStep, { kind: 'finished' | 'stopped' }> | undefined;

  /**
   * @param coverage the further texts that are judged; undefined where only the texts of the contract are
   * @param rename is applied to each frame that is sent; its texts must stay
   */
  constructor(coverage?: StreamCoverage, rename: RenameAnswer = (frame) => frame) {
    this.#coverage = coverage;
    this.#rename = rename;
  }

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
        check.pass();
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
    return { kind: 'check', texts: check.texts };
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
      this.#endCalls();
      const wellFormed = this.#channels.map((channel) => channel.end());
      if (wellFormed.includes(false)) this.#stop({ kind: 'upstream', fault: 'invalid' });
      return;
    }
    if (chunk.kind === 'invalid' || !this.#content.append(chunk.content) || !this.#refusal.append(chunk.refusal)) {
      this.#stop({ kind: 'upstream', fault: 'invalid' });
      return;
    }
    const further = this.#takeFurther(chunk.parts);
    if (further === 'stopped') return;
    const hasText = chunk.content !== '' || chunk.refusal !== '' || further === 'text';
    this.#hold(data, further === 'call' ? 'call' : hasText ? 'text' : chunk.overtakes ? 'free' : 'fixed');
    this.#release();
    const { heldBytes } = this.#coverage === undefined ? streamBounds : judgedStreamBounds;
    if (this.#heldBytes > heldBytes) this.#stop({ kind: 'upstream', fault: 'held_too_much' });
  }

  /** Takes the texts of a frame of the kinds that `judge` of the binding adds to content and refusal. */
  #takeFurther(parts: Parameters<typeof readDeltaTexts>[0]): 'none' | 'text' | 'call' | 'stopped' {
    if (this.#coverage === undefined) return 'none';
    const { pieces, calls, isCall, unjudged } = readDeltaTexts(parts, this.#coverage);
    if (unjudged && this.#coverage.refuseUnjudged) {
      this.#stop({ kind: 'upstream', fault: 'unjudged' });
      return 'stopped';
    }
    for (const { path, text } of pieces) {
      if (this.#channelOf(path)?.append(text) === true) continue;
      this.#stop({ kind: 'upstream', fault: 'invalid' });
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
  }

  get #areCallsJudged(): boolean {
    return this.#coverage === undefined || this.#callChecks?.length === 0;
  }

  #hold(data: Buffer, kind: HeldFrame['kind']): void {
    // Frames behind a frame that keeps its place keep their places, too.
    const kept = kind === 'free' && this.#held.some((frame) => frame.kind === 'fixed') ? 'fixed' : kind;
    const ends = this.#channels.map(({ length }) => length);
    this.#held.push({ data, kind: kept, ends });
    this.#heldBytes += data.length;
    if (kept === 'free') this.#waitingBytes += data.length;
  }

  #release(): void {
    const callsJudged = this.#areCallsJudged;
    const released = this.#channels.map(({ releasedEnd }) => releasedEnd);
    const first = this.#held.findIndex(
      ({ kind, ends }) => (kind === 'call' && !callsJudged) || ends.some((end, index) => end > (released[index] ?? 0)),
    );
    for (const frame of this.#held.splice(0, first === -1 ? this.#held.length : first)) this.#send(frame);
    if (this.#waitingBytes === 0 || this.#channels.some(({ isChecked }) => !isChecked)) return;
    const overtaking = this.#held.filter(({ kind }) => kind === 'free');
    this.#held = this.#held.filter(({ kind }) => kind !== 'free');
    for (const frame of overtaking) this.#send(frame);
  }

  #send({ data, kind }: HeldFrame): void {
    this.#outgoing.push(writeFrame(this.#rename(data)));
    this.#heldBytes -= data.length;
    if (kind === 'free') this.#waitingBytes -= data.length;
  }

  #beginCheck(): boolean {
    const early = this.#waitingBytes > streamBounds.waitingBytes;
    for (const channel of this.#channels) {
      const window = early ? channel.earlyWindow() : channel.nextWindow();
      if (window === undefined) continue;
      this.#pending = { texts: [window.text], pass: () => channel.pass(window), asked: false };
      return true;
    }
    const texts = this.#callChecks?.[0];
    if (texts === undefined) return false;
    this.#pending = { texts, pass: () => void this.#callChecks?.shift(), asked: false };
    return true;
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
