import { foldOrbit, foldRepresentatives } from './unicode/case-fold.ts';
import { tokenCharacters } from './unicode/token-character.ts';
import { characterAt } from './unicode/utf8.ts';

/** Bits for each term: a run that is no last piece is taken for one once in so many times at most. */
const BITS_PER_TERM = 64;
/** Bytes that are cut at once: few enough for what is noted of them to stay in the first cache. */
const BLOCK = 4_096;
/** In place of a code: the byte begins a character of several bytes. */
const WIDE = -1;

const isToken = tokenCharacters();
const fold = foldRepresentatives();
/** By code point of the basic plane: 0 for no token character, else a number, the same for characters equal without case. */
const codes = Uint16Array.from({ length: 0x10000 }, (_, rune) => (isToken[rune] === 1 ? (fold[rune] ?? rune) : 0));
/** By first byte: the code of an ASCII character, or WIDE. */
const byteCodes = Int32Array.from({ length: 256 }, (_, byte) => (byte < 0x80 ? (codes[byte] ?? 0) : WIDE));
/** Where the runs of a block end, and their hashes; 0 is the hash of no run. */
const ends = new Int32Array(BLOCK + 1);
const hashes = new Int32Array(BLOCK + 1);

const none: readonly number[] = [];

/**
 * Where the last pieces of terms (see compileTokens) may end in a text. It may name a place too many and never one too
 * few. Nearly every byte of every text goes through here, and nearly nothing of a text gets further.
 */
export class LastPieces {
  readonly #runs: Int32Array;
  readonly #mask: number;
  /** By first byte of a character that is no token character. */
  readonly #marks = new Uint8Array(256);

  constructor(terms: readonly string[]) {
    let bits = 1_024;
    while (bits < BITS_PER_TERM * terms.length) bits *= 2;
    this.#runs = new Int32Array(bits >> 5);
    this.#mask = bits - 1;
    for (const term of terms) {
      const hash = hashOfLastRun(Buffer.from(term));
      if (hash === undefined) this.#addMark(Array.from(term).at(-1)?.codePointAt(0) ?? 0);
      else this.#addRun(hash);
    }
  }

  /** Places in a text of valid UTF-8, ascending, each the end of a piece. */
  placesIn(bytes: Uint8Array): readonly number[] {
    let places: number[] | undefined;
    let at = 0;
    let hash = 0;
    while (at < bytes.length) {
      const count = cutBlock(bytes, at, hash);
      for (let entry = 0; entry < count; entry += 1) {
        const end = ends[entry] ?? 0;
        const isMark = this.#marks[bytes[end] ?? 0] === 1;
        const isRun = this.#mayBeRun(hashes[entry] ?? 0);
        if (!isRun && !isMark) continue;
        places ??= [];
        if (isRun) places.push(end);
        if (isMark) places.push(end + (characterAt(bytes, end) & 7));
      }
      at = ends[count] ?? 0;
      hash = hashes[count] ?? 0;
    }
    if (!this.#mayBeRun(hash)) return places ?? none;
    places ??= [];
    places.push(at);
    return places;
  }

  #mayBeRun(hash: number): boolean {
    const bit = mixed(hash) & this.#mask;
    return (((this.#runs[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) !== 0;
  }

  #addRun(hash: number): void {
    const bit = mixed(hash) & this.#mask;
    this.#runs[bit >>> 5] = (this.#runs[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }

  #addMark(rune: number): void {
    for (const equal of foldOrbit(rune)) this.#marks[Buffer.from(String.fromCodePoint(equal))[0] ?? 0] = 1;
  }
}

/**
 * Notes in `ends` and `hashes` where runs end in a block of the text that begins at `from`, inside of a run with that
 * hash or of none, and returns how many; one more entry tells where the block ends and the hash of the run there.
 */
function cutBlock(bytes: Uint8Array, from: number, hashBefore: number): number {
  const stop = Math.min(bytes.length, from + BLOCK);
  // The compiler knows a constant of the function, and looks up one of the module every time.
  const endOf = ends;
  const hashOf = hashes;
  const codeOfByte = byteCodes;
  const codeOfRune = codes;
  let at = from;
  let hash = hashBefore;
  let count = 0;
  // Where words end is hard to foretell, so nothing branches on it: every character is noted, and what ends no run is
  // overwritten by the next one.
  while (at < stop) {
    let code = codeOfByte[bytes[at] ?? 0] ?? 0;
    while (code >= 0) {
      endOf[count] = at;
      hashOf[count] = hash;
      const inside = -code >> 31;
      count += 1 + inside;
      hash = (((hash << 5) | (hash >>> 27)) ^ code) & inside;
      at += 1;
      if (at >= stop) break;
      code = codeOfByte[bytes[at] ?? 0] ?? 0;
    }
    while (code < 0) {
      endOf[count] = at;
      hashOf[count] = hash;
      const byte = bytes[at] ?? 0;
      if (byte < 0xe0) {
        code = codeOfRune[((byte & 0x1f) << 6) | ((bytes[at + 1] ?? 0) & 0x3f)] ?? 0;
        at += 2;
      } else {
        const character = characterAt(bytes, at);
        code = codeOf(character >>> 3);
        at += character & 7;
      }
      const inside = -code >> 31;
      count += 1 + inside;
      hash = (((hash << 5) | (hash >>> 27)) ^ code) & inside;
      if (at >= stop) break;
      code = codeOfByte[bytes[at] ?? 0] ?? 0;
    }
  }
  endOf[count] = at;
  hashOf[count] = hash;
  return count;
}

function codeOf(rune: number): number {
  if (rune < 0x10000) return codes[rune] ?? 0;
  return isToken[rune] === 1 ? (fold[rune] ?? rune) & 0xffff || 1 : 0;
}

/** The hash that a text's run gets, of the run at the end of a term; undefined when there is none. */
function hashOfLastRun(term: Uint8Array): number | undefined {
  let hash: number | undefined;
  for (let at = 0; at < term.length; ) {
    const character = characterAt(term, at);
    const code = codeOf(character >>> 3);
    hash = code === 0 ? undefined : (((hash ?? 0) << 5) | ((hash ?? 0) >>> 27)) ^ code;
    at += character & 7;
  }
  return hash;
}

/** Spreads a hash over more bits: its low ones are those of the last characters. */
function mixed(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> 8;
}
