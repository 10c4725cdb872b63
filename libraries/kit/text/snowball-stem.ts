import { createRequire } from 'node:module';

type Stemmer = { stem(word: string): string };
type Language = 'russian' | 'english';

/** A longer word is not a word of a language, and the time of stemming grows with the length. */
export const longestStemmed = 40;

/**
 * The package has all languages in one file that needs 9 MB of memory, so that it is loaded only for the first word.
 */
let stemmers: Readonly<Record<Language, Stemmer>> | undefined;

function stemmerOf(language: Language): Stemmer {
  if (stemmers === undefined) {
    const { newStemmer } = createRequire(import.meta.url)('snowball-stemmers');
    stemmers = { russian: newStemmer('russian'), english: newStemmer('english') };
  }
  return stemmers[language];
}

/** The Snowball stem of a word in lower case: Russian in Cyrillic script, English in Latin script, others unchanged. */
export function snowballStem(word: string): string {
  if (word.length > longestStemmed) return word;
  if (/^\p{Script=Cyrillic}+$/u.test(word)) return stemmerOf('russian').stem(word);
  if (/^[a-z']+$/.test(word)) return stemmerOf('english').stem(word);
  return word;
}
