import { advance, buildAutomaton } from './sequence-automaton.ts';
import { TermEnds } from './term-ends.ts';
import { matcherOf, type TermList, type TermMatcher } from './term-list.ts';
import { foldRepresentatives } from './unicode/case-fold.ts';
import { MAX_RUNE } from './unicode/rune-set.ts';
import { characterBefore } from './unicode/utf8.ts';

/**
 * Compiles terms for substring match: a term matches wherever the text has the same code points, inside words too.
 * Without case sensitivity two code points are equal when they are in one simple folding orbit of RE2's table (so `k`
 * equals U+212A, `s` equals U+017F, `ß` equals `ẞ` but never `ss`, and `i` equals neither `ı` nor `İ`).
 */
export function compileLiterals({ terms, caseSensitive }: TermList): TermMatcher {
  const alphabet = createAlphabet(caseSensitive);
  const total = terms.reduce((sum, term) => sum + term.length, 0);
  const symbols = new Int32Array(total);
  const starts = new Int32Array(terms.length + 1);
  let filled = 0;
  terms.forEach((term, index) => {
    for (const character of term) {
      symbols[filled] = alphabet.learn(character.codePointAt(0) ?? 0);
      filled += 1;
    }
    starts[index + 1] = filled;
  });
  const symbolOf = alphabet.finish();
  const sequences = { symbols: symbols.subarray(0, filled), starts, symbolCount: alphabet.size() };
  const automaton = buildAutomaton(sequences);
  const { longest } = automaton;
  const termEnds = new TermEnds(terms);
  let offsets = new Int32Array(0);

  /** Feeds the text, or what of it may belong to a term, from its end to its beginning; stops when `found` says so. */
  function scan(bytes: Buffer, found: (start: number, end: number) => boolean): void {
    if (offsets.length <= bytes.length) offsets = new Int32Array(bytes.length + 1);
    const places = termEnds.placesIn(bytes);
    if (places === undefined) {
      scanBack(bytes, bytes.length, false, found);
      return;
    }
    let position = bytes.length;
    for (let index = places.length - 1; index >= 0 && position >= 0; index -= 1) {
      const place = places[index] ?? 0;
      if (place <= position) position = scanBack(bytes, place, true, found);
    }
  }

  /** Feeds the text from `end` back, and returns how far it came, or -1 when `found` said to stop. */
  function scanBack(
    bytes: Buffer,
    end: number,
    onlyTerms: boolean,
    found: (start: number, end: number) => boolean,
  ): number {
    let state = 0;
    let position = end;
    for (let count = 0; position > 0; ) {
      offsets[count] = position;
      count += 1;
      const character = characterBefore(bytes, position);
      position -= character & 7;
      state = advance(automaton, state, symbolOf[character >>> 3] ?? 0);
      const length = longest[state] ?? 0;
      if (length !== 0 && found(position, offsets[count - length] ?? 0)) return -1;
      if (onlyTerms && state === 0) break;
    }
    return position;
  }

  return matcherOf(scan);
}

type Alphabet = { learn(rune: number): number; size(): number; finish(): Int32Array };

/** Numbers the code points that occur in the terms from 1; equal ones without case share a number. */
function createAlphabet(caseSensitive: boolean): Alphabet {
  const representatives = caseSensitive ? new Int32Array(0) : foldRepresentatives();
  const numbers = new Map<number, number>();
  return {
    learn(rune) {
      const key = representatives[rune] ?? rune;
      const known = numbers.get(key);
      if (known !== undefined) return known;
      numbers.set(key, numbers.size + 1);
      return numbers.size;
    },
    size: () => numbers.size,
    finish() {
      let highest = 0;
      for (const rune of numbers.keys()) highest = Math.max(highest, rune);
      const table = new Int32Array(Math.min(MAX_RUNE, Math.max(highest, representatives.length)) + 1);
      for (let rune = 0; rune < table.length; rune += 1) table[rune] = numbers.get(representatives[rune] ?? rune) ?? 0;
      return table;
    },
  };
}
