import { stemPassingWord, stemWord } from './stem-word.ts';

/** Longest term, code units: a longer run of letters is divided, as an index would refuse it. */
const longestTerm = 128;

/** Runs of letters, marks and digits, with apostrophes inside of them. */
const words = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)*/gu;
/** Soft hyphens and joiners, which extracted texts have inside of words, and the accents of stress. */
const invisible = /[\u00ad\u200b-\u200d\u2060\ufeff]|\u0300|\u0301/g;

/**
 * The terms of a text, in its order: words in lower case without accents of stress, compatibility forms and ё = е
 * unified, reduced to their Snowball stem in Cyrillic and Latin script. Every engine uses this function for texts and
 * queries, so that all engines index the same terms.
 */
export function analyse(text: string): readonly string[] {
  return termsOf(text, stemWord);
}

/** Analyses the text of a query like `analyse`, but keeps none of its words in the cache. */
export function analyseQuery(text: string): readonly string[] {
  return termsOf(text, stemPassingWord);
}

function termsOf(text: string, stem: (word: string) => string): readonly string[] {
  const unified = text.normalize('NFKC').replace(invisible, '').toLowerCase().replaceAll('ё', 'е').replaceAll('’', "'");
  const terms: string[] = [];
  for (const [word] of unified.matchAll(words)) {
    for (let from = 0; from < word.length; from += longestTerm) {
      terms.push(stem(word.slice(from, from + longestTerm)));
    }
  }
  return terms;
}
