// @ts-expect-error The package has no types; the line that calls it gives them.
import snowball from 'snowball-stemmers';
import { ownString } from '../own-string.ts';

type Stemmer = { stem(word: string): string };

const newStemmer: (language: 'russian' | 'english') => Stemmer = snowball.newStemmer;
const russian = newStemmer('russian');
const english = newStemmer('english');

/** Words whose stems are kept; few texts have more distinct ones. Reaching it empties the cache. */
const mostKept = 50_000;
/** A longer word is not a word of a language, and the time of stemming grows with the length. */
const longestStemmed = 40;

const stems = new Map<string, string>();

/** The Snowball stem of a word in lower case: Russian in Cyrillic script, English in Latin script, others unchanged. */
export function stemWord(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const own = ownString(word);
  const stem = ownString(computeStem(own));
  if (stems.size >= mostKept) stems.clear();
  stems.set(own, stem);
  return stem;
}

function computeStem(word: string): string {
  if (word.length > longestStemmed) return word;
  if (/^\p{Script=Cyrillic}+$/u.test(word)) return russian.stem(word);
  if (/^[a-z']+$/.test(word)) return english.stem(word);
  return word;
}
