import { stemWord } from './stem-word.ts';

/** Longest term, code units: a longer run of letters is divided, as an index would refuse it. */
const longestTerm = 128;

const words = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * The terms of a text, in its order: runs of letters, marks and digits in lower case, compatibility forms and ё = е
 * unified, words in Cyrillic and Latin script reduced to their Snowball stem. Texts and queries pass through the same
 * function for every engine, so that all of them index the same terms.
 */
export function analyse(text: string): readonly string[] {
  const unified = text.normalize('NFKC').toLowerCase().replaceAll('ё', 'е');
  const terms: string[] = [];
  for (const [word] of unified.matchAll(words)) {
    for (let from = 0; from < word.length; from += longestTerm)
      terms.push(stemWord(word.slice(from, from + longestTerm)));
  }
  return terms;
}
