import { snowballStem } from '#kit/text/snowball-stem';
import { ownString } from '../own-string.ts';

/**
 * Number of words whose stems are cached; few texts have more different words. When the number is reached, the cache is
 * emptied.
 */
const mostKept = 50_000;

const stems = new Map<string, string>();

/** The stem of `snowballStem`; stems are cached, because stored texts repeat their words. */
export function stemWord(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const own = ownString(word);
  const stem = ownString(snowballStem(own));
  if (stems.size >= mostKept) stems.clear();
  stems.set(own, stem);
  return stem;
}

/** The stem of a word that must not be kept in memory. */
export function stemPassingWord(word: string): string {
  return stems.get(word) ?? snowballStem(word);
}
