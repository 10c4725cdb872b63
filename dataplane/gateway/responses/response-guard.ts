import { createHash } from 'node:crypto';
import { batchMessages } from '#checks/batch-messages';
import { tailOf } from '#checks/guard/join-seams';
import type { TextChannel } from '#checks/text-channel';
import type { SseDataEvent } from '#kit/http/sse-reader';
import type { CheckUnit } from '../chat/check-unit.ts';
import type { RenameAnswer } from '../chat/rename-answer.ts';
import { bytesPerValue, maxChecks, textMemory } from '../chat/text-bounds.ts';
import { collectNested, withoutRepetitions } from '../judged/collect-texts.ts';
import { piecesOfText } from '../judged/pieces-of-text.ts';
import { checkTogether, type WaitingText } from '../stream/check-together.ts';
import { type GuardCheck, SteppedGuard } from '../stream/stepped-guard.ts';
import type { StreamCoverage } from '../stream/stream-guard.ts';
import { writeFrame } from '../stream/write-frame.ts';
import { GrowingText } from './growing-text.ts';
import { isGrowingText, isInFront, isMessageText, seamsOf } from './join-texts.ts';
import { type ResponseEvent, readEvent } from './read-event.ts';

/**
 * Bounds of one guarded stream of the Responses API in bytes. The last event repeats the whole answer, so that an event
 * may be larger than a frame of a chat. `texts`: maximum number of growing texts in one stream.
 */
export const responseStreamBounds = {
  eventBytes: 4_194_304,
  heldBytes: 8_388_608,
  judgedHeldBytes: 16_777_216,
  texts: 4_096,
} as const;

type ReadEvent = Extract<ResponseEvent, { readonly kind: 'event' }>;
type Waits = { readonly channel: TextChannel; readonly end: number };
/** A held event. It is sent after its checks, its text and its call have passed, and after every earlier event. */
type HeldEvent = {
  readonly frame: Buffer;
  readonly bytes: number;
  readonly waits: readonly Waits[];
  readonly call: string | undefined;
};
/** The input of a tool call so far. After the input was judged only its digest is kept. */
type Call = { text: string; digest: Buffer | undefined };

/**
 * The guard of one streamed answer of the Responses API, without I/O: bytes of the upstream in, steps out
 * (docs/design/responses.md, "Streams"). Events are sent in their order. Growing texts are judged in the windows of a
 * StreamGuard. A whole text that repeats a judged text is not judged again; any other whole text is judged before its
 * event is sent.
 */
export class ResponseGuard extends SteppedGuard {
  readonly #coverage: StreamCoverage;
  readonly #rename: RenameAnswer;
  readonly #texts = new Map<string, GrowingText>();
  /** The texts that have a part that is not judged yet, or to which a part may be added. */
  readonly #open = new Set<GrowingText>();
  readonly #calls = new Map<string, Call>();
  /** The end of the joined texts of all messages so far, in the order in which they arrived. */
  #joined = '';
  /**
   * The end of the joined texts if a client uses the other whole text of a message instead of the judged one; empty if
   * there is no other text.
   */
  #otherJoined = '';
  /** Memory of the ends of texts in front of others, bytes. */
  #joinedBytes = 0;
  /** The text of a message that grew last. */
  #newest = '';
  /** Whether the texts of messages arrived in a different order than that of their places. */
  #isMixed = false;
  #checks: GuardCheck[] = [];
  /** Memory of the texts of the planned checks, bytes. */
  #checkBytes = 0;
  #held: HeldEvent[] = [];
  #heldBytes = 0;
  #isLast = false;

  constructor(coverage: StreamCoverage, rename: RenameAnswer) {
    super(responseStreamBounds.eventBytes);
    this.#coverage = coverage;
    this.#rename = rename;
  }

  /** Memory of the events that are held, of the texts that are still to be judged, and of the texts of the request, bytes. */
  get heldBytes(): number {
    const sent = this.#coverage.sent?.heldBytes ?? 0;
    return this.#heldBytes + this.#held.length * bytesPerValue + this.#checkBytes + this.#joinedBytes + sent;
  }

  protected prepare(): GuardCheck | 'end' | undefined {
    // A whole text is judged before its event is released, so that its checks are made first.
    const check = this.#nextCheck();
    if (check !== undefined) return check;
    this.#release();
    return this.#isLast ? 'end' : undefined;
  }

  protected take({ name, data }: SseDataEvent): void {
    const read = readEvent(data, this.#coverage);
    const isNamed = name !== '';
    if (read.kind === 'failed') this.stop({ kind: 'upstream', fault: 'failed' });
    else if (read.kind === 'invalid' || (isNamed && name !== read.type)) this.#invalid();
    else this.#takeRead(read, isNamed, data);
  }

  #takeRead(event: ReadEvent, isNamed: boolean, data: Buffer): void {
    const { deltas, wholes, call, others, ends, endsBelow, unjudged, isLast, type } = event;
    if (unjudged && this.#coverage.refuseUnjudged) {
      this.stop({ kind: 'upstream', fault: 'unjudged' });
      return;
    }
    const waits: Waits[] = [];
    let pieceOf: string | undefined;
    for (const { path, text: piece, isCall } of deltas) {
      if (isCall) {
        this.countText(Buffer.byteLength(piece));
        if (!this.#growCall(path, piece)) {
          this.#invalid();
          return;
        }
        pieceOf = path;
        continue;
      }
      if (!this.#grow(path, piece, waits)) {
        this.#invalid();
        return;
      }
    }
    if (endsBelow !== undefined) this.#endBelow(endsBelow);
    const units = [...others];
    const unknown = wholes.flatMap((whole) => this.#takeWhole(whole, ends, waits));
    const hasSeams = unknown.length > 0 || this.#isMixed;
    for (const unit of withoutRepetitions([...unknown, ...(hasSeams ? seamsOf(wholes) : [])])) units.push(unit);
    const ended = call === undefined ? [] : this.#endCall(call.path, call.text);
    for (const unit of ended) units.push(unit);
    if (isLast) this.#endAll(units);
    this.#plan(units);
    if (this.isStopped) return;
    this.#isLast = isLast;
    const frame = writeFrame(this.#rename(data), isNamed ? type : undefined);
    this.#held.push({ frame, bytes: data.length, waits, call: pieceOf });
    this.#heldBytes += data.length;
    const { heldBytes, judgedHeldBytes } = responseStreamBounds;
    const most = this.#coverage.judged.size === 0 ? heldBytes : judgedHeldBytes;
    if (this.#heldBytes > most) this.stop({ kind: 'upstream', fault: 'held_too_much' });
  }

  /**
   * Adds a piece to a growing text. @returns false for a piece after the end of its text, and for more texts than may
   * be judged
   */
  #grow(path: string, piece: string, waits: Waits[]): boolean {
    if (piece === '' && !this.#texts.has(path)) return true;
    const text = this.#textAt(path);
    if (text?.append(piece) !== true) return false;
    this.#count(path, piece);
    waits.push({ channel: text.channel, end: text.channel.length });
    return true;
  }

  /** @returns undefined when the stream has more texts than may be judged */
  #textAt(path: string): GrowingText | undefined {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    if (this.#texts.size >= responseStreamBounds.texts) return undefined;
    const text = new GrowingText(isMessageText(path) ? [this.#joined, this.#otherJoined] : []);
    this.#texts.set(path, text);
    this.#joinedBytes += text.heldBytes;
    this.#open.add(text);
    return text;
  }

  /** Counts text that was added to the response. */
  #count(path: string, text: string): void {
    this.countText(Buffer.byteLength(text));
    if (text === '' || !isMessageText(path)) return;
    this.#joined = tailOf(this.#joined + text);
    if (this.#otherJoined !== '') this.#otherJoined = tailOf(this.#otherJoined + text);
    this.#isMixed ||= this.#newest !== '' && isInFront(path, this.#newest);
    this.#newest = path;
  }

  /**
   * The texts to judge for a whole text: none if it repeats the judged text, or is the first piece of a growing text.
   */
  #takeWhole({ path, text: whole }: ReadEvent['wholes'][number], ends: boolean, waits: Waits[]): readonly CheckUnit[] {
    const text = this.#texts.get(path);
    if (ends && text !== undefined && !text.isEnded && !text.end()) this.#invalid();
    if (whole === '' || text?.equals(whole) === true) return [];
    if (text === undefined && isGrowingText(path)) {
      if (ends) return this.#takeComplete(path, whole);
      if (!this.#grow(path, whole, waits)) this.#invalid();
      return [];
    }
    // Pieces that follow are added to this text by some readers, and to the pieces in front of it by others.
    if (text !== undefined && !ends) this.#invalid();
    if (text === undefined) return [unitOf(whole)];
    if (path === this.#newest) this.#otherJoined = text.endOf(whole);
    return text.joined(whole).map(unitOf);
  }

  /** A text without pieces, which is complete. */
  #takeComplete(path: string, whole: string): readonly CheckUnit[] {
    const text = this.#textAt(path);
    if (text === undefined) {
      this.#invalid();
      return [];
    }
    this.#count(path, whole);
    return text.complete(whole).map(unitOf);
  }

  #endBelow(start: string): void {
    for (const [path, text] of this.#texts) {
      if (!path.startsWith(start)) continue;
      if (!text.end()) this.#invalid();
      // A later text at the same place is a new text.
      this.#texts.delete(path);
    }
  }

  /**
   * Adds a piece to a tool call. @returns false for a piece after the end of its call, and for more calls than may be
   * judged
   */
  #growCall(path: string, text: string): boolean {
    const call = this.#callAt(path);
    if (call === undefined || call.digest !== undefined) return false;
    call.text += text;
    return true;
  }

  /** @returns undefined when the stream has more calls than may be judged */
  #callAt(path: string): Call | undefined {
    const known = this.#calls.get(path);
    if (known !== undefined) return known;
    if (this.#calls.size >= responseStreamBounds.texts) return undefined;
    const call: Call = { text: '', digest: undefined };
    this.#calls.set(path, call);
    return call;
  }

  /** The texts to judge at the end of a call: its input, and the joined pieces if they differ from the input. */
  #endCall(path: string, whole: string | undefined): readonly CheckUnit[] {
    const call = this.#callAt(path);
    if (call === undefined) {
      this.#invalid();
      return [];
    }
    const { text, digest } = call;
    if (digest !== undefined) {
      const isKnown = whole === undefined || digestOf(whole).equals(digest);
      return isKnown ? [] : textsOfCalls([whole]);
    }
    call.digest = digestOf(text === '' ? (whole ?? '') : text);
    call.text = '';
    return textsOfCalls([...new Set([whole ?? '', text])]);
  }

  #endAll(units: CheckUnit[]): void {
    for (const text of this.#texts.values()) if (!text.isEnded && !text.end()) this.#invalid();
    for (const path of this.#calls.keys()) for (const unit of this.#endCall(path, undefined)) units.push(unit);
  }

  /** Plans checks of complete texts. These checks are made before the next event is read. */
  #plan(units: readonly CheckUnit[]): void {
    const { limits } = this.#coverage;
    if (!units.every(({ content }) => content.isWellFormed())) {
      this.#invalid();
      return;
    }
    const messages = units.flatMap(({ role, content }) =>
      piecesOfText({ role, content }, limits.maxBodyBytes).map((piece) => ({ role, content: piece })),
    );
    for (const batch of batchMessages(messages, limits, 'response')) {
      const texts = batch.map(({ content }) => content);
      this.#checks.push({ texts, pass: () => undefined });
      this.#checkBytes += textMemory(texts);
    }
    if (this.#checks.length > maxChecks) this.stop({ kind: 'upstream', fault: 'held_too_much' });
  }

  #nextCheck(): GuardCheck | undefined {
    const planned = this.#checks.shift();
    if (planned !== undefined) {
      this.#checkBytes -= textMemory(planned.texts);
      return planned;
    }
    const { limits } = this.#coverage;
    const waiting: WaitingText[] = [];
    for (const text of this.#open) {
      const next = text.nextTexts();
      waiting.push(...next);
      if (next.length === 0 && text.isEnded) this.#open.delete(text);
      if (waiting.length >= limits.maxMessages) break;
    }
    return waiting.length === 0 ? undefined : checkTogether(waiting, limits);
  }

  #release(): void {
    const first = this.#held.findIndex(
      ({ waits, call }) =>
        waits.some(({ channel, end }) => end > channel.releasedEnd) ||
        (call !== undefined && this.#calls.get(call)?.digest === undefined),
    );
    for (const { frame, bytes } of this.#held.splice(0, first === -1 ? this.#held.length : first)) {
      this.emit(frame);
      this.#heldBytes -= bytes;
    }
  }

  protected finish(): void {
    if (this.#held.length > 0) throw new Error('events are still held although all text of the response has passed');
  }

  protected drop(): void {
    this.#held = [];
    this.#checks = [];
    this.#checkBytes = 0;
  }

  #invalid(): void {
    this.stop({ kind: 'upstream', fault: 'invalid' });
  }
}

function unitOf(content: string): CheckUnit {
  return { role: 'assistant', content, place: { kind: 'fixed' } };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(Buffer.from(text, 'utf16le')).digest();
}

/** The texts of the JSON in the inputs of calls. */
function textsOfCalls(inputs: readonly string[]): readonly CheckUnit[] {
  return inputs.flatMap((value) =>
    collectNested({ kind: 'string', value, start: 0, end: 0 }, { role: 'assistant', numbers: true }),
  );
}
