import { characterBefore } from './unicode/utf8.ts';

/**
 * Numbers the pieces (runs of token characters, and single other characters) that occur in a list of terms, and finds
 * the number of a piece of a text without making a string of it. 0 stands for a piece of no term.
 */
export type Vocabulary = {
  learnRun(bytes: Uint8Array, start: number, end: number): number;
  learnMark(rune: number, runFollows: boolean): number;
  size(): number;
  /** Call once, after the last piece was learnt and before the first one is looked up. */
  finish(): void;
  run(bytes: Uint8Array, start: number, end: number): number;
  mark(rune: number, runFollows: boolean): number;
};

/** `fold` maps code points to their case representatives; a code point past its end stands for itself. */
export function createVocabulary(fold: Int32Array): Vocabulary {
  const runs = new Map<string, number>();
  const marks = new Map<number, number>();
  const pieces: { hash: number; id: number; runes: number[] }[] = [];
  let size = 0;
  let mask = 0;
  let slots = new Int32Array(0);
  let hashes = new Int32Array(0);
  let ids = new Int32Array(0);
  let runeStarts = new Int32Array(1);
  let runes = new Int32Array(0);

  const representative = (rune: number) => fold[rune] ?? rune;
  const markKey = (rune: number, runFollows: boolean) => representative(rune) * 2 + (runFollows ? 1 : 0);

  /** Hash of the folded code points, from the last one to the first. */
  function hashOf(bytes: Uint8Array, start: number, end: number): number {
    let hash = 0x811c9dc5;
    for (let position = end; position > start; ) {
      const character = characterBefore(bytes, position);
      position -= character & 7;
      hash = Math.imul(hash ^ representative(character >>> 3), 0x01000193);
    }
    return hash ^ (hash >>> 15);
  }

  function equals(piece: number, bytes: Uint8Array, start: number, end: number): boolean {
    let at = runeStarts[piece] ?? 0;
    const stop = runeStarts[piece + 1] ?? 0;
    for (let position = end; position > start; at += 1) {
      const character = characterBefore(bytes, position);
      position -= character & 7;
      if (at >= stop || runes[at] !== representative(character >>> 3)) return false;
    }
    return at === stop;
  }

  return {
    learnRun(bytes, start, end) {
      const own: number[] = [];
      for (let position = end; position > start; ) {
        const character = characterBefore(bytes, position);
        position -= character & 7;
        own.push(representative(character >>> 3));
      }
      const key = own.join();
      const known = runs.get(key);
      if (known !== undefined) return known;
      size += 1;
      runs.set(key, size);
      pieces.push({ hash: hashOf(bytes, start, end), id: size, runes: own });
      return size;
    },
    learnMark(rune, runFollows) {
      const key = markKey(rune, runFollows);
      const known = marks.get(key);
      if (known !== undefined) return known;
      size += 1;
      marks.set(key, size);
      return size;
    },
    size: () => size,
    finish() {
      let capacity = 16;
      while (capacity < 2 * pieces.length) capacity *= 2;
      mask = capacity - 1;
      slots = new Int32Array(capacity);
      hashes = Int32Array.from(pieces, ({ hash }) => hash);
      ids = Int32Array.from(pieces, ({ id }) => id);
      runeStarts = new Int32Array(pieces.length + 1);
      pieces.forEach((piece, index) => {
        runeStarts[index + 1] = (runeStarts[index] ?? 0) + piece.runes.length;
        let slot = piece.hash & mask;
        while (slots[slot] !== 0) slot = (slot + 1) & mask;
        slots[slot] = index + 1;
      });
      runes = Int32Array.from(pieces.flatMap((piece) => piece.runes));
      runs.clear();
      pieces.length = 0;
    },
    run(bytes, start, end) {
      const hash = hashOf(bytes, start, end);
      for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
        const piece = (slots[slot] ?? 0) - 1;
        if (piece < 0) return 0;
        if (hashes[piece] === hash && equals(piece, bytes, start, end)) return ids[piece] ?? 0;
      }
    },
    mark: (rune, runFollows) => marks.get(markKey(rune, runFollows)) ?? 0,
  };
}
