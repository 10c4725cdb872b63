import { nearestWord } from '#kit/text/nearest-word';

/**
 * The sentence ` Did you mean X?` for the candidate that is nearest to a word, with a leading space; empty if none is
 * near.
 */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const nearest = nearestWord(word, candidates);
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`;
}
