import { isAscii } from 'node:buffer';
import { foldOrbit, foldRepresentatives } from '../unicode/case-fold.ts';
import { tokenCharacters } from '../unicode/token-character.ts';
import { characterAt, characterBefore } from '../unicode/utf8.ts';
import { asciiEqual } from './ascii-equal.ts';
import { KeySet } from './key-set.ts';

// A text is split at every character that is not a token character; the parts between these characters are words, which
// may be empty. This code reads nearly every byte of every text. Word ends are hard for the processor to predict, so
// that no code branches on them: each character is recorded as an end, and an entry that does not end a word is
// overwritten by the next entry. Functions copy the tables into local constants, because the compiler looks up a
// constant of the module at every access.

/** Size of a block in bytes: small enough for its entries to stay in the first-level cache. */
const BLOCK = 4_096;
/** Marks a byte that begins a multi-byte character; it replaces a code. */
const WIDE = -1;
/** The number of last bytes that form the key of an ASCII word. */
const KEY_BYTES = 8;
/**
 * The bit in each of four bytes that distinguishes upper from lower case; ignoring it makes no two other ASCII token
 * characters equal.
 */
const LOWER_CASE = 0x20202020;

const isToken = tokenCharacters();
const fold = foldRepresentatives();
/**
 * For each code point of the basic plane: 0 if it is not a token character, else a number that is the same for
 * characters that differ only in case.
 */
const codes = new Uint16Array(0x10000);
for (let rune = 0; rune < codes.length; rune += 1) if (isToken[rune] === 1) codes[rune] = fold[rune] ?? rune;
/** For each first byte: the code of an ASCII character, or WIDE. */
const byteCodes = Int32Array.from({ length: 256 }, (_, byte) => (byte < 0x80 ? (codes[byte] ?? 0) : WIDE));
/** For each ASCII byte: 1 if a word ends there, else 0. */
const endBytes = Uint8Array.from({ length: 256 }, (_, byte) => (byteCodes[byte] === 0 ? 1 : 0));
/**
 * For each word length (15 means 8 and more): the masks that select the bytes of the word from its last four bytes and
 * from the four bytes before them.
 */
const lastBits = Int32Array.from({ length: 16 }, (_, length) => bitsOf(length));
const earlierBits = Int32Array.from({ length: 16 }, (_, length) => bitsOf(length - 4));
/** Positions at which the words of a block end, and the keys of these words; only for ASCII texts. */
const ends = new Int32Array(BLOCK + 1);
const keys = new Int32Array(BLOCK + 1);

/**
 * Finds where the last pieces of terms (see compileTokens) may end in a text. It may report a position at which no term
 * ends, but never misses one; most texts have almost no such position.
 */
export class LastPieces {
  /** Keys of the last words of terms: one set for all terms, and one for ASCII words. */
  readonly #textKeys: KeySet;
  readonly #asciiKeys: KeySet;
  /**
   * For each first byte: whether a term may end with a character that begins with this byte and is not a token
   * character.
   */
  readonly #marks = new Uint8Array(256);
  #hasMarks = false;

  /** Number of terms. */
  constructor(terms: number) {
    this.#textKeys = new KeySet(terms);
    this.#asciiKeys = new KeySet(terms);
  }

  add(term: Buffer): void {
    let start = term.length;
    while (start > 0 && codeOf(characterBefore(term, start) >>> 3) !== 0) start -= characterBefore(term, start) & 7;
    if (start === term.length) {
      this.#hasMarks = true;
      const mark = characterBefore(term, term.length) >>> 3;
      for (const equal of foldOrbit(mark)) this.#marks[Buffer.from(String.fromCodePoint(equal))[0] ?? 0] = 1;
      return;
    }
    const run = term.subarray(start);
    this.#textKeys.add(keyOfText(run));
    const ascii = asciiEqual(run);
    if (ascii !== undefined) this.#asciiKeys.add(keyOfAscii(ascii));
  }

  /**
   * Writes the positions in a text of valid UTF-8 at which the last piece of a term may end into `places`, in ascending
   * order, and returns their number: at most two for each byte, and one more.
   */
  placesIn(bytes: Buffer, places: Int32Array): number {
    return isAscii(bytes) ? this.#lookInAscii(bytes, places) : this.#lookInText(bytes, places);
  }

  #lookInText(bytes: Buffer, places: Int32Array): number {
    const endOf = ends;
    const keyOf = keys;
    const known = this.#textKeys;
    let found = 0;
    let at = 0;
    let key = 0;
    while (at < bytes.length) {
      const count = cutText(bytes, at, key);
      for (let word = 0; word < count; word += 1) {
        const end = endOf[word] ?? 0;
        if (known.has(keyOf[word] ?? 0) && end > 0) places[found++] = end;
        if (this.#hasMarks && this.#marks[bytes[end] ?? 0] === 1) places[found++] = end + (characterAt(bytes, end) & 7);
      }
      at = endOf[count] ?? 0;
      key = keyOf[count] ?? 0;
    }
    if (known.has(key)) places[found++] = at;
    return found;
  }

  /** Searches in an ASCII text, which takes two thirds of the time of the general search. */
  #lookInAscii(bytes: Buffer, places: Int32Array): number {
    const text = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const endOf = ends;
    const last = lastBits;
    const earlier = earlierBits;
    const known = this.#asciiKeys;
    let found = 0;
    let start = 0;
    for (let at = 0; at < bytes.length; at += BLOCK) {
      const count = cutAscii(text, at);
      for (let word = 0; word < count; word += 1) {
        const end = endOf[word] ?? 0;
        if (end < KEY_BYTES ? end > start : known.has(asciiKey(text, end, end - start, last, earlier)))
          places[found++] = end;
        if (this.#hasMarks && this.#marks[bytes[end] ?? 0] === 1) places[found++] = end + 1;
        start = end + 1;
      }
    }
    if (start < bytes.length) places[found++] = bytes.length;
    return found;
  }
}

/**
 * Records in `ends` and `keys` where words end in the block of a text that begins at `from`, inside of a word whose key
 * so far is `before`, and returns the number of ends; one more entry has the end of the block and the key at that
 * place. A key is computed from all characters of a word, and is the same for words that differ only in case; 0 for an
 * empty word.
 */
function cutText(bytes: Buffer, from: number, before: number): number {
  const endOf = ends;
  const keyOf = keys;
  const codeOfByte = byteCodes;
  const codeOfRune = codes;
  const stop = Math.min(bytes.length, from + BLOCK);
  let at = from;
  let key = before;
  let count = 0;
  while (at < stop) {
    let code = codeOfByte[bytes[at] ?? 0] ?? 0;
    while (code >= 0) {
      endOf[count] = at;
      keyOf[count] = key;
      const inside = -code >> 31;
      count += 1 + inside;
      key = (((key << 5) | (key >>> 27)) ^ code) & inside;
      at += 1;
      if (at >= stop) break;
      code = codeOfByte[bytes[at] ?? 0] ?? 0;
    }
    while (code < 0) {
      endOf[count] = at;
      keyOf[count] = key;
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
      key = (((key << 5) | (key >>> 27)) ^ code) & inside;
      if (at >= stop) break;
      code = codeOfByte[bytes[at] ?? 0] ?? 0;
    }
  }
  endOf[count] = at;
  keyOf[count] = key;
  return count;
}

function codeOf(rune: number): number {
  if (rune < 0x10000) return codes[rune] ?? 0;
  return isToken[rune] === 1 ? (fold[rune] ?? rune) & 0xffff || 1 : 0;
}

/** The key of a text that consists of one word. */
function keyOfText(word: Buffer): number {
  let key = 0;
  for (let at = 0; at < word.length; ) {
    const character = characterAt(word, at);
    key = ((key << 5) | (key >>> 27)) ^ codeOf(character >>> 3);
    at += character & 7;
  }
  return key;
}

/** Records in `ends` where words end in the block of a text of ASCII that begins at `from`, and returns how many. */
function cutAscii(text: DataView, from: number): number {
  const endOf = ends;
  const isEnd = endBytes;
  const stop = Math.min(text.byteLength, from + BLOCK);
  let at = from;
  let count = 0;
  for (; at + 4 <= stop; at += 4) {
    const four = text.getInt32(at, true);
    endOf[count] = at;
    count += isEnd[four & 0xff] ?? 0;
    endOf[count] = at + 1;
    count += isEnd[(four >>> 8) & 0xff] ?? 0;
    endOf[count] = at + 2;
    count += isEnd[(four >>> 16) & 0xff] ?? 0;
    endOf[count] = at + 3;
    count += isEnd[four >>> 24] ?? 0;
  }
  for (; at < stop; at += 1) {
    endOf[count] = at;
    count += isEnd[text.getUint8(at)] ?? 0;
  }
  return count;
}

/** The key of a word of ASCII that ends at KEY_BYTES or later; `last` and `earlier` are the tables of these names. */
function asciiKey(text: DataView, end: number, length: number, last: Int32Array, earlier: Int32Array): number {
  const index = (length | (-(length >> 3) >>> 28)) & 15;
  const low = (text.getInt32(end - 4, true) | LOWER_CASE) & (last[index] ?? 0);
  const high = (text.getInt32(end - 8, true) | LOWER_CASE) & (earlier[index] ?? 0);
  return low ^ Math.imul(high, 0x85ebca6b);
}

const lastBytes = new Uint8Array(KEY_BYTES);
const lastBytesView = new DataView(lastBytes.buffer);

/** The key of an ASCII text that consists of one word. */
function keyOfAscii(word: Uint8Array): number {
  const end = word.subarray(Math.max(0, word.length - KEY_BYTES));
  lastBytes.set(end, KEY_BYTES - end.length);
  return asciiKey(lastBytesView, KEY_BYTES, word.length, lastBits, earlierBits);
}

function bitsOf(bytes: number): number {
  if (bytes <= 0) return 0;
  return bytes >= 4 ? -1 : -1 << (32 - 8 * bytes);
}
