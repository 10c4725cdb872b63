import { limits } from '#contracts/limits';
import { characterStart, chooseWindowEnd, nextCharacterStart } from './token-boundary.ts';

/** Bytes before the end of a window in which a token boundary is looked for, so that few words are cut. */
const boundarySearchBytes = 64;
/** A phrase of `overlapBytes` that ends in the next window may begin so many bytes before what was checked. */
const heldTailBytes = limits.overlapBytes - 1;

/** Text to judge, and the position in the whole text at which it ends. */
export type TextWindow = { readonly text: string; readonly end: number };

/**
 * One text of a streamed answer, judged in windows (document 1, section 4.7; DESIGN section 8, "Stream").
 * A window is up to 256 bytes from before and up to 1,024 new ones. Any phrase of at most 256 bytes lies whole in the
 * window in which it ends, and begins behind `releasedEnd` until that window has passed.
 * Positions are bytes of UTF-8 from the begin of the text.
 */
export class TextChannel {
  #carried: Buffer = Buffer.alloc(0);
  #pending: Buffer = Buffer.alloc(0);
  #checkedEnd = 0;
  /** The first half of a character whose second half the next delta must bring. */
  #highSurrogate = '';
  #ended = false;

  /**
   * Adds the next piece of the text; a surrogate pair may be cut between two pieces.
   * @returns whether the text is well-formed so far
   */
  append(piece: string): boolean {
    if (piece === '') return true;
    const text = this.#highSurrogate + piece;
    const open = isHighSurrogate(text.charCodeAt(text.length - 1));
    const whole = open ? text.slice(0, -1) : text;
    if (!whole.isWellFormed()) return false;
    this.#highSurrogate = open ? text.slice(-1) : '';
    this.#pending = Buffer.concat([this.#pending, Buffer.from(whole, 'utf8')]);
    return true;
  }

  /**
   * Declares the text complete.
   * @returns whether it is well-formed: false when a character was never finished
   */
  end(): boolean {
    this.#ended = true;
    return this.#highSurrogate === '';
  }

  /** Where the text ends so far; half a character counts whole, since it may not leave before the other half is judged. */
  get length(): number {
    return this.#checkedEnd + this.#pending.length + (this.#highSurrogate === '' ? 0 : 4);
  }

  /** What ends at or before this position may leave. */
  get releasedEnd(): number {
    if (this.#ended && this.#pending.length === 0) return this.#checkedEnd;
    return Math.max(0, this.#checkedEnd - heldTailBytes);
  }

  /** The next window to judge; undefined while more text may come that belongs into it, and when all is judged. */
  nextWindow(): TextWindow | undefined {
    const length = this.#nextLength();
    if (length === 0) return undefined;
    const bytes = Buffer.concat([this.#carried, this.#pending.subarray(0, length)]);
    return { text: bytes.toString('utf8'), end: this.#checkedEnd + length };
  }

  /** The window of `nextWindow` has passed. */
  pass(window: TextWindow): void {
    const length = window.end - this.#checkedEnd;
    const judged = Buffer.concat([this.#carried, this.#pending.subarray(0, length)]);
    this.#carried = judged.subarray(nextCharacterStart(judged, judged.length - limits.overlapBytes));
    this.#pending = this.#pending.subarray(length);
    this.#checkedEnd = window.end;
  }

  /** One byte more than a window holds must be there, so that the end of a window does not depend on how text came. */
  #nextLength(): number {
    const { windowBytes, overlapBytes } = limits;
    if (this.#pending.length <= windowBytes) return this.#ended ? this.#pending.length : 0;
    const longest = characterStart(this.#pending, windowBytes);
    return chooseWindowEnd(this.#pending, windowBytes - boundarySearchBytes, longest, overlapBytes);
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
