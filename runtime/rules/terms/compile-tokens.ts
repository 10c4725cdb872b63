import { foldRepresentatives } from '../unicode/case-fold.ts';
import { tokenCharacters } from '../unicode/token-character.ts';
import { characterAt, characterBefore } from '../unicode/utf8.ts';
import { LastPieces } from './last-pieces.ts';
import { advance, buildAutomaton, type Sequences } from './sequence-automaton.ts';
import { matcherOf, scanNotes, type TermList, type TermMatcher } from './term-list.ts';
import { Vocabulary } from './token-vocabulary.ts';

/**
 * Compiles terms for token match: a term matches where the text has the same code points (equality as in
 * compileLiterals) and the characters next to that place, if there are any, are not token characters. Token characters
 * are letters, numbers, combining marks and the underscore. A term may contain several words and any punctuation;
 * inside of a term only equality counts: `foo-bar` matches in `(foo-bar)` and not in `foo-bars`, `.net` matches in `use
 * .net now` and not in `asp.net`.
 *
 * The text is split into pieces: runs of token characters, and every other character as a separate piece. Both ends of
 * a match are borders of pieces, so that a term is a sequence of pieces. The symbol of a piece that is not a run
 * records whether a run follows; the last piece of a term must not be followed by a run.
 */
export function compileTokens({ terms, caseSensitive }: TermList): TermMatcher {
  const fold = caseSensitive ? new Int32Array(0) : foldRepresentatives();
  const isToken = tokenCharacters();
  const vocabulary = new Vocabulary(fold);
  const lastPieces = new LastPieces(terms.length);
  const automaton = buildAutomaton(learnTerms(terms, { vocabulary, lastPieces, isToken }));
  vocabulary.close();
  const { longest } = automaton;

  /**
   * Feeds the pieces of the text to the automaton from the end to the beginning, without pieces that occur in no term.
   * Stops when `found` returns true.
   */
  function scan(bytes: Buffer, found: (start: number, end: number) => boolean): void {
    const { length } = bytes;
    const { offsets, places } = scanNotes(length);
    let left = lastPieces.placesIn(bytes, places);
    let state = 0;
    let position = length;
    let runFollows = false;
    for (let count = 0; position > 0; ) {
      if (state === 0) {
        while (left > 0 && (places[left - 1] ?? 0) > position) left -= 1;
        if (left === 0) return;
        const next = places[left - 1] ?? 0;
        if (next < position) runFollows = isToken[characterAt(bytes, next) >>> 3] === 1;
        position = next;
        count = 0;
      }
      const end = position;
      offsets[count] = end;
      count += 1;
      const character = characterBefore(bytes, end);
      const isRun = isToken[character >>> 3] === 1;
      position = isRun ? runStart(bytes, end, isToken) : end - (character & 7);
      const symbol = isRun ? vocabulary.run(bytes, position, end) : vocabulary.mark(character >>> 3, runFollows);
      runFollows = isRun;
      state = advance(automaton, state, symbol);
      const matched = longest[state] ?? 0;
      if (matched === 0 || (!isRun && followsToken(bytes, position, isToken))) continue;
      if (found(position, offsets[count - matched] ?? 0)) return;
    }
  }

  return matcherOf(scan);
}

type Learning = { readonly vocabulary: Vocabulary; readonly lastPieces: LastPieces; readonly isToken: Uint8Array };

function learnTerms(terms: readonly string[], { vocabulary, lastPieces, isToken }: Learning): Sequences {
  const symbols: number[] = [];
  const starts = new Int32Array(terms.length + 1);
  terms.forEach((term, index) => {
    const bytes = Buffer.from(term);
    lastPieces.add(bytes);
    const backwards: number[] = [];
    let runFollows = false;
    for (let position = bytes.length; position > 0; ) {
      const character = characterBefore(bytes, position);
      const isRun = isToken[character >>> 3] === 1;
      const start = isRun ? runStart(bytes, position, isToken) : position - (character & 7);
      const symbol = isRun
        ? vocabulary.learnRun(bytes, start, position)
        : vocabulary.learnMark(character >>> 3, runFollows);
      backwards.push(symbol);
      runFollows = isRun;
      position = start;
    }
    symbols.push(...backwards.reverse());
    starts[index + 1] = symbols.length;
  });
  return { symbols: Int32Array.from(symbols), starts, symbolCount: vocabulary.size };
}

function runStart(bytes: Uint8Array, end: number, isToken: Uint8Array): number {
  let start = end;
  while (start > 0) {
    const character = characterBefore(bytes, start);
    if (isToken[character >>> 3] !== 1) return start;
    start -= character & 7;
  }
  return start;
}

function followsToken(bytes: Uint8Array, position: number, isToken: Uint8Array): boolean {
  return position > 0 && isToken[characterBefore(bytes, position) >>> 3] === 1;
}
