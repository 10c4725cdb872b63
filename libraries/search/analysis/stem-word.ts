import { snowballStem } from '#kit/text/snowball-stem';
import { ownString } from '../own-string.ts';

/** Words whose stems are kept; few texts have more distinct ones. Reaching it empties the cache. */
const mostKept = 50_000;

const stems = new Map<string, string>();

/** As snowballStem; stems are kept, because stored texts repeat their words. */
export function stemWord(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const own = ownString(word);
  const stem = ownString(snowballStem(own));
  if (stems.size >= mostKept) stems.clear();
  stems.set(own, stem);
  return stem;
}

/** As stemWord, for a word that must not stay in memory. */
export function stemPassingWord(word: string): string {
  return stems.get(word) ?? snowballStem(word);
}
