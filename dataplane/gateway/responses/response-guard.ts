import { batchMessages } from '#checks/batch-messages';
import { TextChannel } from '#checks/text-channel';
import { type SseEvent, SseReader } from '#kit/http/sse-reader';
import type { CheckUnit } from '../chat/check-unit.ts';
import type { RenameAnswer } from '../chat/rename-answer.ts';
import { collectNested } from '../judged/collect-texts.ts';
import type { GuardStep, StreamCoverage, StreamStop, WindowVerdict } from '../stream/stream-guard.ts';
import { keepAliveFrame, writeFrame } from '../stream/write-frame.ts';
import { GrowingText } from './growing-text.ts';
import { isMessageText, seamsOf, tailOf } from './join-texts.ts';
import { type ResponseEvent, readEvent } from './read-event.ts';

/**
 * Bounds of one guarded stream of the Responses API in bytes. Its last event repeats the whole answer, so that an event may
 * be larger than one of a chat. `texts`: growing texts in one stream.
 */
export const responseStreamBounds = {
  eventBytes: 4_194_304,
  heldBytes: 8_388_608,
  judgedHeldBytes: 16_777_216,
  texts: 4_096,
} as const;

type Waits = { readonly channel: TextChannel; readonly end: number };
/** A held event. It leaves after its checks, its text and its call have passed, and after every event in front of it. */
type HeldEvent = {
  readonly frame: Buffer;
  readonly bytes: number;
  readonly waits: readonly Waits[];
  readonly call: string | undefined;
};
type PendingCheck = { readonly texts: readonly string[]; readonly pass: () => void; asked: boolean };
/** The input of a call of a tool so far. */
type Call = { text: string; isJudged: boolean };

/**
 * The guard of one streamed answer of the Responses API, without I/O: bytes of the upstream in, steps out
 * (docs/design/responses.md, "Streams"). Events leave in their order. Texts that grow are judged in the windows of a
 * StreamGuard; a whole text that repeats a judged one is not judged again, and any other one is judged before its event
 * leaves.
 */
export class ResponseGuard {
  readonly #reader = new SseReader(responseStreamBounds.eventBytes);
  readonly #coverage: StreamCoverage;
  readonly #rename: RenameAnswer;
  readonly #texts = new Map<string, GrowingText>();
  /** The texts of which a part is not judged yet, or may follow. */
  readonly #open = new Set<GrowingText>();
  readonly #calls = new Map<string, Call>();
  /** The end of the text of all messages so far. */
  #joined = '';
  #checks: PendingCheck[] = [];
  #pending: PendingCheck | undefined;
  #held: HeldEvent[] = [];
  #heldBytes = 0;
  #outgoing: Buffer[] = [];
  #closed = false;
  #isLast = false;
  #end: Extract<GuardStep, { kind: 'finished' | 'stopped' }> | undefined;

  constructor(coverage: StreamCoverage, rename: RenameAnswer) {
    this.#coverage = coverage;
    this.#rename = rename;
  }

  receive(bytes: Uint8Array): void {
    this.#reader.push(bytes);
  }

  /** Records that the upstream sends no more bytes. */
  close(): void {
    this.#closed = true;
  }

  judged(verdict: WindowVerdict): void {
    const check = this.#pending;
    if (check === undefined) throw new Error('a verdict arrived although no check of a response is pending');
    this.#pending = undefined;
    if (verdict.kind === 'pass') check.pass();
    else this.#stop(verdict.kind === 'deny' ? { kind: 'denied' } : { kind: 'check_failed', code: verdict.code });
  }

  next(): GuardStep {
    for (;;) {
      if (this.#end !== undefined) return this.#takeOutgoing() ?? this.#end;
      if (this.#pending !== undefined) return this.#takeOutgoing() ?? this.#ask(this.#pending);
      if (this.#beginCheck()) continue;
      this.#release();
      if (this.#isLast) this.#finish();
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
    if (event.kind === 'comment') this.#outgoing.push(keepAliveFrame);
    else if (event.kind === 'too_large') this.#stop({ kind: 'upstream', fault: 'event_too_large' });
    else {
      const read = readEvent(event.data, this.#coverage);
      const isNamed = event.name !== '';
      if (read.kind === 'failed') this.#stop({ kind: 'upstream', fault: 'failed' });
      else if (read.kind === 'invalid' || (isNamed && event.name !== read.type)) this.#invalid();
      else this.#takeRead(read, isNamed, event.data);
    }
  }

  #takeRead(event: Extract<ResponseEvent, { kind: 'event' }>, isNamed: boolean, data: Buffer): void {
    const { deltas, wholes, call, others, ends, endsBelow, unjudged, isLast, type } = event;
    if (unjudged && this.#coverage.refuseUnjudged) {
      this.#stop({ kind: 'upstream', fault: 'unjudged' });
      return;
    }
    const waits: Waits[] = [];
    let pieceOf: string | undefined;
    for (const { path, text: piece, isCall } of deltas) {
      if (isCall) {
        this.#growCall(path, piece);
        pieceOf = path;
        continue;
      }
      const text = this.#textAt(path);
      if (text?.append(piece) !== true) {
        this.#invalid();
        return;
      }
      if (isMessageText(path)) this.#joined = tailOf(this.#joined + piece);
      waits.push({ channel: text.channel, end: text.channel.length });
    }
    if (endsBelow !== undefined) this.#endBelow(endsBelow);
    const units = [...others];
    const unknown = wholes.flatMap(({ path, text }) => this.#takeWhole(path, text, ends));
    units.push(...unknown, ...(unknown.length === 0 ? [] : seamsOf(wholes)));
    if (call !== undefined) units.push(...this.#endCall(call.path, call.text));
    if (isLast) this.#endAll(units);
    this.#plan(units);
    if (this.#end !== undefined) return;
    this.#isLast = isLast;
    const frame = writeFrame(this.#rename(data), isNamed ? type : undefined);
    this.#held.push({ frame, bytes: data.length, waits, call: pieceOf });
    this.#heldBytes += data.length;
    const { heldBytes, judgedHeldBytes } = responseStreamBounds;
    const most = this.#coverage.judged.size === 0 ? heldBytes : judgedHeldBytes;
    if (this.#heldBytes > most) this.#stop({ kind: 'upstream', fault: 'held_too_much' });
  }

  /** @returns undefined when the stream has more texts than may be judged */
  #textAt(path: string): GrowingText | undefined {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    if (this.#texts.size >= responseStreamBounds.texts) return undefined;
    const text = new GrowingText(isMessageText(path) ? this.#joined : '');
    this.#texts.set(path, text);
    this.#open.add(text);
    return text;
  }

  /** The texts to judge for a whole text: none if it repeats what was judged in windows. */
  #takeWhole(path: string, whole: string, ends: boolean): readonly CheckUnit[] {
    const text = this.#texts.get(path);
    if (ends && text !== undefined && !text.isEnded && !text.end()) this.#invalid();
    if (whole === '' || text?.equals(whole) === true) return [];
    return [{ role: 'assistant', content: whole, place: { kind: 'absent' } }];
  }

  #endBelow(start: string): void {
    for (const [path, text] of this.#texts) {
      if (!path.startsWith(start)) continue;
      if (!text.end()) this.#invalid();
      // A later text of the same place begins anew.
      this.#texts.delete(path);
    }
  }

  #growCall(path: string, text: string): void {
    const call = this.#calls.get(path) ?? { text: '', isJudged: false };
    call.text += text;
    call.isJudged = false;
    this.#calls.set(path, call);
  }

  /** The texts to judge at the end of a call: its input, and the pieces where they give another one. */
  #endCall(path: string, whole: string | undefined): readonly CheckUnit[] {
    const call = this.#calls.get(path);
    const inputs = new Set([...(whole === undefined ? [] : [whole]), ...(call === undefined ? [] : [call.text])]);
    if (call?.isJudged === true) {
      if (call.text === whole || whole === undefined) return [];
      inputs.delete(call.text);
    }
    if (call === undefined) this.#calls.set(path, { text: whole ?? '', isJudged: true });
    else call.isJudged = true;
    return [...inputs].flatMap((value) =>
      collectNested({ kind: 'string', value, start: 0, end: 0 }, { role: 'assistant', numbers: true }),
    );
  }

  #endAll(units: CheckUnit[]): void {
    for (const text of this.#texts.values()) if (!text.isEnded && !text.end()) this.#invalid();
    for (const path of this.#calls.keys()) units.push(...this.#endCall(path, undefined));
  }

  /** Plans checks of texts that do not grow. They are made before the next event is read. */
  #plan(units: readonly CheckUnit[]): void {
    const texts = units.flatMap(({ content }) => windowsOf(content));
    if (texts.includes(undefined)) this.#invalid();
    const messages = texts.flatMap((content) => (content === undefined ? [] : [{ role: 'assistant', content }]));
    for (const batch of batchMessages(messages, this.#coverage.limits, 'response')) {
      this.#checks.push({ texts: batch.map(({ content }) => content), pass: () => undefined, asked: false });
    }
  }

  #beginCheck(): boolean {
    this.#pending = this.#checks.shift();
    if (this.#pending !== undefined) return true;
    for (const text of this.#open) {
      const { channel } = text;
      const window = channel.nextWindow();
      if (window !== undefined) {
        this.#pending = { texts: [window.text], pass: () => channel.pass(window), asked: false };
        return true;
      }
      if (text.isEnded) this.#open.delete(text);
    }
    return false;
  }

  #release(): void {
    const first = this.#held.findIndex(
      ({ waits, call }) =>
        waits.some(({ channel, end }) => end > channel.releasedEnd) ||
        (call !== undefined && this.#calls.get(call)?.isJudged !== true),
    );
    for (const { frame, bytes } of this.#held.splice(0, first === -1 ? this.#held.length : first)) {
      this.#outgoing.push(frame);
      this.#heldBytes -= bytes;
    }
  }

  #finish(): void {
    if (this.#held.length > 0) throw new Error('events are still held although all text of the response has passed');
    this.#end = { kind: 'finished' };
  }

  #invalid(): void {
    this.#stop({ kind: 'upstream', fault: 'invalid' });
  }

  /** Events that were released before the stop are still sent; held events are dropped. */
  #stop(stop: StreamStop): void {
    this.#held = [];
    this.#checks = [];
    this.#end ??= { kind: 'stopped', stop };
  }

  #takeOutgoing(): GuardStep | undefined {
    if (this.#outgoing.length === 0) return undefined;
    const bytes = Buffer.concat(this.#outgoing);
    this.#outgoing = [];
    return { kind: 'emit', bytes };
  }
}

/** The windows of a whole text; undefined among them where the text is not well-formed. */
function windowsOf(content: string): readonly (string | undefined)[] {
  const channel = new TextChannel();
  const isWellFormed = channel.append(content) && channel.end();
  if (!isWellFormed) return [undefined];
  const windows: string[] = [];
  for (let window = channel.nextWindow(); window !== undefined; window = channel.nextWindow()) {
    windows.push(window.text);
    channel.pass(window);
  }
  return windows;
}
