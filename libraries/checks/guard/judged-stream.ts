import { createHash } from 'node:crypto';
import { limits } from '#contracts/limits';
import { TextChannel } from '../text-channel.ts';
import { characterStart } from '../token-boundary.ts';

type StreamRefusal = 'guardrail_denied' | 'output_invalid' | 'cancelled';

type JudgedStreamOptions = {
  /** Judges one window, and throws if the decision is neither pass nor mask; undefined without a policy. */
  readonly judge: ((text: string) => Promise<'pass' | 'mask'>) | undefined;
  /** The error that ends the stream. */
  readonly refuse: (code: StreamRefusal) => Error;
  readonly signal: AbortSignal;
  /** Receives text that may be sent, in order. The text is never empty. */
  readonly onReleased: (text: string) => void;
};

/** Memory of one piece of a text in bytes, in addition to its characters, in the held text and in the channel. */
const bytesPerPiece = 128;

/**
 * The text of a result while it is still written, judged by a policy in the windows of streamed answers
 * (docs/design/streaming.md). Text is released only if every earlier window has passed. Without a policy each piece is
 * released when the next piece has arrived.
 */
export class JudgedStream {
  readonly #options: JudgedStreamOptions;
  #channel = new TextChannel();
  /**
   * The digest of the whole text. The text itself would be kept as pieces, each of which needs many times the memory of
   * its characters.
   */
  readonly #hash = createHash('sha256');
  /** The last part of the text, which waits for the check of its window. */
  #held = '';
  /** Number of pieces in the held text. */
  #pieces = 0;
  /** Position of the beginning of the held text, in bytes of UTF-8. */
  #releasedEnd = 0;
  /** Whether the policy masked a text before any of it was released: the whole result is then judged at its end. */
  #isWhole = false;

  constructor(options: JudgedStreamOptions) {
    this.#options = options;
  }

  /** Whether a part of the text was released, so that the rest must be released in the same way. */
  get hasBegun(): boolean {
    return this.#releasedEnd > 0;
  }

  /** Bytes of memory of the text that has not left yet. */
  get heldBytes(): number {
    // Two bytes for each character in the held text, and two in the channel.
    return 4 * this.#held.length + bytesPerPiece * this.#pieces;
  }

  /**
   * Takes the next piece of the text, judges the windows that it completes and releases the text that passed.
   * @throws the error of a refusal: guardrail_denied, output_invalid, cancelled; errors of `judge`
   */
  async add(piece: string): Promise<void> {
    if (this.#isWhole || piece === '') return;
    const { judge, refuse } = this.#options;
    // The last piece is held, because the last part of a text must not be empty.
    if (judge === undefined && this.#held.isWellFormed()) this.#release(Buffer.byteLength(this.#held));
    this.#hash.update(piece, 'utf16le');
    this.#held += piece;
    this.#pieces += 1;
    if (judge === undefined) return;
    if (!this.#channel.append(piece)) throw refuse('output_invalid');
    for (let next = this.#channel.nextWindow(); next !== undefined; next = this.#channel.nextWindow()) {
      if (!(await this.#passes(next.text))) return;
      this.#channel.pass(next);
      this.#release(this.#channel.releasedEnd - this.#releasedEnd);
    }
  }

  /**
   * Judges the rest of a text whose beginning was released.
   * @param text the result of the run
   * @returns the last part of the text, never empty; the caller sends it
   * @throws the error of a refusal: guardrail_denied; output_invalid if the result is not the text that was streamed;
   * any error that `judge` throws
   */
  async finish(text: string | undefined): Promise<string> {
    const { judge, refuse } = this.#options;
    if (text === undefined || !text.isWellFormed() || !this.#isText(text)) throw refuse('output_invalid');
    if (judge === undefined) return this.#held;
    this.#channel.end();
    for (let next = this.#channel.nextWindow(); next !== undefined; next = this.#channel.nextWindow()) {
      if (!(await this.#passes(next.text))) throw refuse('guardrail_denied');
      this.#channel.pass(next);
    }
    return this.#held;
  }

  #isText(text: string): boolean {
    return createHash('sha256').update(text, 'utf16le').digest().equals(this.#hash.digest());
  }

  /** @returns false if the text is judged as a whole from now on */
  async #passes(text: string): Promise<boolean> {
    const { judge, refuse } = this.#options;
    if (judge === undefined || (await judge(text)) === 'pass') return true;
    // A part that has left can no longer be masked.
    if (this.hasBegun) throw refuse('guardrail_denied');
    this.#isWhole = true;
    this.#channel = new TextChannel();
    this.#held = '';
    this.#pieces = 0;
    return false;
  }

  /**
   * Releases the first `bytes` of the held text, or less so that no character is split.
   * @throws the error of the refusal cancelled: the call may end while a window is judged
   */
  #release(bytes: number): void {
    if (this.#options.signal.aborted) throw this.#options.refuse('cancelled');
    // The first `bytes` characters are enough, because each character has at least one byte.
    const begin = Buffer.from(this.#held.slice(0, bytes), 'utf8');
    const end = characterStart(begin, bytes);
    if (end <= 0) return;
    const text = begin.toString('utf8', 0, end);
    this.#hold(this.#held.slice(text.length));
    this.#releasedEnd += end;
    this.#options.onReleased(text);
  }

  /** A short text is copied, because a substring keeps the whole text, with each of its pieces, in memory. */
  #hold(text: string): void {
    const isShort = text.length <= 2 * limits.windowBytes;
    this.#held = isShort ? Buffer.from(text, 'utf16le').toString('utf16le') : text;
    if (isShort) this.#pieces = 0;
  }
}
