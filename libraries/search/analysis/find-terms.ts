import { analyse } from './analyse.ts';

/** A part of a text, in UTF-16 units; `end` is the first unit after it. */
type TextSpan = { readonly start: number; readonly end: number };

/** Words in the form of a text, with the joiners and apostrophes that `analyse` unifies or removes. */
const wordsOfText = /[\p{L}\p{M}\p{N}\u00ad\u200b-\u200d\u2060\ufeff]+(?:['’][\p{L}\p{M}]+)*/gu;

/**
 * The words of a text with one of the terms, in their order, at most `most` words. A word of a text and a word of a
 * query have the same term if a search for one finds the other.
 */
export function findTerms(text: string, terms: ReadonlySet<string>, most: number): readonly TextSpan[] {
  const found: TextSpan[] = [];
  if (terms.size === 0) return found;
  for (const { 0: word, index } of text.matchAll(wordsOfText)) {
    if (found.length === most) break;
    if (analyse(word).some((term) => terms.has(term))) found.push({ start: index, end: index + word.length });
  }
  return found;
}
