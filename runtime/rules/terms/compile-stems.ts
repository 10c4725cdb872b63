import type { ByteRange } from '../checked-text.ts';
import { compileTokens } from './compile-tokens.ts';
import { type StemmedText, stemText } from './stem-text.ts';
import type { TermMatcher } from './term-list.ts';

/** Maximum number of letters of a word that are compared with the stems of the terms before the word is stemmed. */
const longestPrefix = 3;
/** Maximum number of letters at the end of a Snowball stem that differ from the word: `capabl` of `capabilities`. */
const replacedLetters = 2;

/**
 * Compiles terms for whole words in any form: a term matches where the words of the text have the same stems as its
 * words, and all other characters are equal as in compileTokens. Unlike the calls of other matchers, its calls throw
 * for a text with too many words.
 */
export function compileStems(terms: readonly string[]): TermMatcher {
  const stemmed = [...new Set(terms.map((term) => stemText(Buffer.from(term), () => true).bytes.toString()))];
  const compiled = compileTokens({ terms: stemmed, caseSensitive: false });
  const prefixes = prefixesOf(stemmed);
  const mayMatch = (word: string): boolean => {
    for (let length = 1; length <= longestPrefix; length += 1) if (prefixes.has(word.slice(0, length))) return true;
    return false;
  };
  const read = (bytes: Buffer): StemmedText => stemText(bytes, mayMatch);
  const back = (text: StemmedText, found: readonly ByteRange[]): ByteRange[] =>
    found.map(({ start, end }) => ({ start: text.original(start, 'start'), end: text.original(end, 'end') }));
  return {
    test: (bytes) => compiled.test(read(bytes).bytes),
    matches(bytes, limit) {
      const text = read(bytes);
      return back(text, compiled.matches(text.bytes, limit));
    },
    occurrences(bytes) {
      const text = read(bytes);
      return compiled
        .occurrences(text.bytes)
        .map((offset, at) => text.original(offset, at % 2 === 0 ? 'start' : 'end'));
    },
  };
}

/** The begins of all words of the terms that every word with that stem has. */
function prefixesOf(terms: readonly string[]): ReadonlySet<string> {
  const prefixes = new Set<string>();
  for (const term of terms) {
    for (const [stem] of term.toLowerCase().matchAll(/\p{L}+/gu)) {
      prefixes.add(stem.slice(0, Math.min(longestPrefix, Math.max(1, stem.length - replacedLetters))));
    }
  }
  return prefixes;
}
