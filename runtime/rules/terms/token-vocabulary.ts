import { characterBefore } from '../unicode/utf8.ts';

/**
 * Numbers the pieces (runs of token characters, and single other characters) that occur in a list of terms. 0 means
 * that a piece is in no term. `close` must be called once, after the last piece was added and before the first piece is
 * looked up.
 */
export class Vocabulary {
  readonly #fold: Int32Array;
  readonly #runs = new Map<string, number>();
  readonly #marks = new Map<number, number>();
  readonly #learnt: { readonly hash: number; readonly id: number; readonly runes: readonly number[] }[] = [];
  #size = 0;
  #slots = new Int32Array(1);
  #hashes = new Int32Array(0);
  #ids = new Int32Array(0);
  #runeStarts = new Int32Array(1);
  #runes = new Int32Array(0);

  /** `fold` maps code points to their case representatives; a code point beyond its end represents itself. */
  constructor(fold: Int32Array) {
    this.#fold = fold;
  }

  /** The number of pieces in the vocabulary. */
  get size(): number {
    return this.#size;
  }

  learnRun(bytes: Uint8Array, start: number, end: number): number {
    const runes: number[] = [];
    for (let position = end; position > start; ) {
      const character = characterBefore(bytes, position);
      position -= character & 7;
      runes.push(this.#fold[character >>> 3] ?? character >>> 3);
    }
    const key = runes.join();
    const known = this.#runs.get(key);
    if (known !== undefined) return known;
    this.#size += 1;
    this.#runs.set(key, this.#size);
    this.#learnt.push({ hash: this.#hashOf(bytes, start, end), id: this.#size, runes });
    return this.#size;
  }

  learnMark(rune: number, runFollows: boolean): number {
    const key = this.#markKey(rune, runFollows);
    const known = this.#marks.get(key);
    if (known !== undefined) return known;
    this.#size += 1;
    this.#marks.set(key, this.#size);
    return this.#size;
  }

  /** Converts the collected pieces to tables, so that a lookup creates no strings. */
  close(): void {
    const pieces = this.#learnt;
    let capacity = 16;
    while (capacity < 2 * pieces.length) capacity *= 2;
    this.#slots = new Int32Array(capacity);
    this.#hashes = Int32Array.from(pieces, ({ hash }) => hash);
    this.#ids = Int32Array.from(pieces, ({ id }) => id);
    this.#runeStarts = new Int32Array(pieces.length + 1);
    for (const [index, piece] of pieces.entries()) {
      this.#runeStarts[index + 1] = (this.#runeStarts[index] ?? 0) + piece.runes.length;
      let slot = piece.hash & (capacity - 1);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (capacity - 1);
      this.#slots[slot] = index + 1;
    }
    this.#runes = Int32Array.from(pieces.flatMap((piece) => piece.runes));
    this.#runs.clear();
    pieces.length = 0;
  }

  run(bytes: Uint8Array, start: number, end: number): number {
    const hash = this.#hashOf(bytes, start, end);
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const piece = (this.#slots[slot] ?? 0) - 1;
      if (piece < 0) return 0;
      if (this.#hashes[piece] === hash && this.#equals(piece, bytes, start, end)) return this.#ids[piece] ?? 0;
    }
  }

  mark(rune: number, runFollows: boolean): number {
    return this.#marks.get(this.#markKey(rune, runFollows)) ?? 0;
  }

  #markKey(rune: number, runFollows: boolean): number {
    return (this.#fold[rune] ?? rune) * 2 + (runFollows ? 1 : 0);
  }

  /** Hashes the case-folded code points of a piece, from the last to the first. */
  #hashOf(bytes: Uint8Array, start: number, end: number): number {
    let hash = 0x811c9dc5;
    for (let position = end; position > start; ) {
      const character = characterBefore(bytes, position);
      position -= character & 7;
      hash = Math.imul(hash ^ (this.#fold[character >>> 3] ?? character >>> 3), 0x01000193);
    }
    return hash ^ (hash >>> 15);
  }

  #equals(piece: number, bytes: Uint8Array, start: number, end: number): boolean {
    let at = this.#runeStarts[piece] ?? 0;
    const stop = this.#runeStarts[piece + 1] ?? 0;
    for (let position = end; position > start; at += 1) {
      const character = characterBefore(bytes, position);
      position -= character & 7;
      if (at >= stop || this.#runes[at] !== (this.#fold[character >>> 3] ?? character >>> 3)) return false;
    }
    return at === stop;
  }
}
