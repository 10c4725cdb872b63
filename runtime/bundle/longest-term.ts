import { longestStemmed } from '#kit/text/snowball-stem';
import { foldOrbit } from '../rules/unicode/case-fold.ts';

type Terms = { readonly terms: readonly string[]; readonly caseSensitive: boolean };

/** Maximum number of bytes of UTF-8 that a term of a stop list can match. */
export function longestTermBytes({ terms, caseSensitive }: Terms): number {
  return terms.reduce((most, term) => Math.max(most, termBytes(term, caseSensitive, most)), 0);
}

/** Maximum number of characters of a term. */
export function longestTermCharacters({ terms }: Pick<Terms, 'terms'>): number {
  return terms.reduce((most, term) => (term.length <= most ? most : Math.max(most, Array.from(term).length)), 0);
}

/**
 * Maximum number of bytes of a match of a term whose words match in other forms; a stemmed word has two bytes for each
 * letter.
 */
export function longestStemmedBytes({ terms }: Pick<Terms, 'terms'>): number {
  const bytesOf = (term: string): number => {
    const words = term.match(/[\p{L}\p{N}\p{M}_]+/gu)?.length ?? 0;
    return words * 2 * longestStemmed + 3 * Buffer.byteLength(term, 'utf8');
  };
  return terms.reduce((most, term) => Math.max(most, bytesOf(term)), 0);
}

/**
 * Case folding can change the length of a character: `k` has one byte, the equal Kelvin sign has three. If the number
 * of bytes cannot exceed `least`, it is not computed exactly.
 */
function termBytes(term: string, caseSensitive: boolean, least: number): number {
  const bytes = Buffer.byteLength(term, 'utf8');
  if (caseSensitive || bytes * 3 <= least) return bytes;
  const longest = (character: string): number =>
    Math.max(...foldOrbit(character.codePointAt(0) ?? 0).map((rune) => Buffer.byteLength(String.fromCodePoint(rune))));
  return Array.from(term).reduce((sum, character) => sum + longest(character), 0);
}
