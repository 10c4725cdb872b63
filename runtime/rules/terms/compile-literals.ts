import { isAscii } from 'node:buffer';
import { foldRepresentatives } from '../unicode/case-fold.ts';
import { MAX_RUNE } from '../unicode/rune-set.ts';
import { characterBefore } from '../unicode/utf8.ts';
import { advance, buildAutomaton } from './sequence-automaton.ts';
import { TermEnds } from './term-ends.ts';
import { matcherOf, scanNotes, type TermList, type TermMatcher } from './term-list.ts';

/**
 * Compiles terms for substring match: a term matches wherever the text has the same code points, even inside of words.
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

  /**
   * Feeds the text to the automaton from its end to its beginning, without characters that occur in no term. Stops when
   * `found` returns true.
   */
  function scan(bytes: Buffer, found: (start: number, end: number) => boolean): void {
    const { length } = bytes;
    const { offsets, places } = scanNotes(length);
    const everywhere = !isAscii(bytes);
    let left = everywhere ? 0 : termEnds.placesIn(bytes, places);
    let state = 0;
    let position = length;
    for (let count = 0; position > 0; ) {
      if (state === 0 && !everywhere) {
        while (left > 0 && (places[left - 1] ?? 0) > position) left -= 1;
        if (left === 0) return;
        position = places[left - 1] ?? 0;
        count = 0;
      }
      offsets[count] = position;
      count += 1;
      const character = characterBefore(bytes, position);
      position -= character & 7;
      state = advance(automaton, state, symbolOf[character >>> 3] ?? 0);
      const matched = longest[state] ?? 0;
      if (matched !== 0 && found(position, offsets[count - matched] ?? 0)) return;
    }
  }

  return matcherOf(scan);
}

type Alphabet = { learn(rune: number): number; size(): number; finish(): Int32Array };

/** Numbers the code points that occur in the terms from 1; code points that are equal without case share a number. */
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
