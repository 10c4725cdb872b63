import { limits } from '#contracts/limits';
import { characterStart, chooseWindowEnd, nextCharacterStart, wordStart } from './token-boundary.ts';

/**
 * Size of the range, at the end of a window, in which a token boundary is searched as the end, so that few words are
 * split.
 */
const boundarySearchBytes = 64;
/** Maximum number of bytes of checked text that a phrase of `overlapBytes` can have when it ends in the next window. */
const heldTailBytes = limits.overlapBytes - 1;

/**
 * Text of one window, and the position in the whole text at which the window ends. `isEarly`: the window is shorter
 * than a full window.
 */
type TextWindow = { readonly text: string; readonly end: number; readonly isEarly?: true };

/**
 * One text of a streamed answer, judged in windows (`gateway:stream:window-1024`, `gateway:stream:overlap-256`;
 * docs/design/streaming.md). A window is up to 256 checked bytes, or up to 320 after an early window, and up to 1,024
 * new bytes. A phrase of at most 256 bytes is completely inside of the window in which it ends, and begins after
 * `releasedEnd` until that window has passed. Positions are bytes of UTF-8 from the start of the text.
 */
export class TextChannel {
  #carried: Buffer = Buffer.alloc(0);
  #pending: Buffer = Buffer.alloc(0);
  /** Text after `#pending` that is not encoded yet: pieces are a few bytes each, and a window is encoded at once. */
  #added = '';
  #addedBytes = 0;
  #checkedEnd = 0;
  /** The first half of a surrogate pair, kept until the next piece of text contains the second half. */
  #highSurrogate = '';
  #ended = false;
  /** The end of the last value, and the position up to which text may be sent because the values in it have passed. */
  #settledEnd = 0;
  #leftEnd = 0;

  /**
   * Adds the next piece of the text; a surrogate pair may be split between two pieces.
   * @returns whether the text is well-formed up to now
   */
  append(piece: string): boolean {
    if (piece === '') return true;
    const text = this.#highSurrogate + piece;
    const open = isHighSurrogate(text.charCodeAt(text.length - 1));
    const whole = open ? text.slice(0, -1) : text;
    if (!whole.isWellFormed()) return false;
    this.#highSurrogate = open ? text.slice(-1) : '';
    this.#added += whole;
    this.#addedBytes += Buffer.byteLength(whole, 'utf8');
    return true;
  }

  #encode(): Buffer {
    if (this.#added === '') return this.#pending;
    this.#pending = Buffer.concat([this.#pending, Buffer.from(this.#added, 'utf8')]);
    this.#added = '';
    this.#addedBytes = 0;
    return this.#pending;
  }

  get #pendingBytes(): number {
    return this.#pending.length + this.#addedBytes;
  }

  /**
   * Marks the current end of the text as the end of a value, which is complete although the text may continue
   * (docs/design/streaming.md, "Values that frames repeat"): the value is sent when it has passed a check. Has no
   * effect while the text ends with half of a surrogate pair.
   */
  settle(): void {
    if (this.#highSurrogate !== '') return;
    this.#settledEnd = this.length;
    this.#leaveSettled();
  }

  /** Whether the current text ends with a value that has not passed a check. */
  get hasSettled(): boolean {
    return this.#settledEnd > this.#checkedEnd;
  }

  #leaveSettled(): void {
    if (!this.hasSettled) this.#leftEnd = this.#settledEnd;
  }

  /**
   * Marks the text as complete. @returns whether the text is well-formed: false if it ends with half of a surrogate
   * pair
   */
  end(): boolean {
    this.#ended = true;
    return this.#highSurrogate === '';
  }

  /**
   * Position of the current end of the text. Half a surrogate pair counts as a whole character, which is released only
   * when the whole character was judged.
   */
  get length(): number {
    return this.#checkedEnd + this.#pendingBytes + (this.#highSurrogate === '' ? 0 : 4);
  }

  /** Whether all text up to now has passed a check. */
  get isChecked(): boolean {
    return this.length === this.#checkedEnd;
  }

  /** Position up to which text has passed a check. */
  get checkedEnd(): number {
    return this.#checkedEnd;
  }

  /** Whether `nextWindow` would return a window. */
  get hasWindow(): boolean {
    return this.#pendingBytes > limits.windowBytes || (this.#ended && this.#pendingBytes > 0);
  }

  /** Position up to which text may be sent to the client. */
  get releasedEnd(): number {
    if (this.#ended && this.#pendingBytes === 0) return this.#checkedEnd;
    return Math.max(this.#leftEnd, this.#checkedEnd - heldTailBytes);
  }

  /** The next window to judge; undefined while the window is incomplete, and when no text is left to judge. */
  nextWindow(): TextWindow | undefined {
    return this.#windowOf(this.#nextLength());
  }

  /**
   * A window over all text up to now, even if it is shorter than a full window; undefined when no text is left to
   * judge.
   */
  earlyWindow(): TextWindow | undefined {
    const full = this.nextWindow();
    if (full !== undefined) return full;
    const window = this.#windowOf(this.#pendingBytes);
    return window && { ...window, isEarly: true };
  }

  #windowOf(length: number): TextWindow | undefined {
    if (length === 0) return undefined;
    const bytes = Buffer.concat([this.#carried, this.#encode().subarray(0, length)]);
    return { text: bytes.toString('utf8'), end: this.#checkedEnd + length };
  }

  /** Records that the window returned by `nextWindow` or `earlyWindow` has passed. */
  pass(window: TextWindow): void {
    const length = window.end - this.#checkedEnd;
    const pending = this.#encode();
    const judged = Buffer.concat([this.#carried, pending.subarray(0, length)]);
    this.#carried = judged.subarray(overlapStart(judged, window.isEarly === true));
    const rest = pending.subarray(length);
    // A short rest is copied, because a part of a buffer keeps the whole buffer in memory.
    this.#pending = rest.length <= limits.windowBytes ? Buffer.from(rest) : rest;
    this.#checkedEnd = window.end;
    this.#leaveSettled();
  }

  /**
   * Waits until one byte more than a window holds has arrived, so that the window's end does not depend on how the text
   * was split into frames.
   */
  #nextLength(): number {
    const { windowBytes, overlapBytes } = limits;
    if (this.#pendingBytes <= windowBytes) return this.#ended ? this.#pendingBytes : 0;
    const pending = this.#encode();
    const longest = characterStart(pending, windowBytes);
    return chooseWindowEnd(pending, windowBytes - boundarySearchBytes, longest, overlapBytes);
  }
}

/**
 * The end of a full window is chosen so that the overlap begins between two words. The end of an early window is the
 * current end of the text, so its overlap is longer if it would begin inside a word.
 */
function overlapStart(judged: Buffer, isEarly: boolean): number {
  const start = nextCharacterStart(judged, judged.length - limits.overlapBytes);
  return isEarly ? wordStart(judged, start - boundarySearchBytes, start) : start;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
