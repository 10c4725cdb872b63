import { longestStemmed, snowballStem } from '#kit/text/snowball-stem';
import { tokenCharacters } from '../unicode/token-character.ts';
import { characterAt } from '../unicode/utf8.ts';

/** A text whose words are replaced by their stems, and the way back from its offsets at the borders of words. */
export type StemmedText = {
  readonly bytes: Buffer;
  readonly original: (offset: number, side: 'start' | 'end') => number;
};

/**
 * Shorter words are their own stems in this program: most of them are not forms of another word, and texts have many of
 * them.
 */
const shortestStemmed = 3;
/**
 * Maximum number of words of one text that are stemmed: stemming a word takes microseconds, and a check cannot be
 * interrupted.
 */
export const maxStemmedWords = 2_000;

/**
 * A text has more words of this kind than one check may stem, so that the rule cannot be judged and the check fails.
 */
class TooManyWords extends Error {
  constructor() {
    super('the text has too many different words that may match a stemmed term');
  }
}

type Change = { readonly from: number; readonly to: number; readonly start: number; readonly end: number };

/** Whether a word may have one of the searched stems; without this function, all words may. */
type MayMatch = (prefix: string) => boolean;

/**
 * Replaces each English word in Latin letters and each Russian word in Cyrillic letters by its Snowball stem in lower
 * case, with `ё` as `е`. Words of fewer than 3 or more than 40 letters stay unchanged, and so do words that cannot
 * match. Throws if more than `maxStemmedWords` different words would be stemmed.
 */
export function stemText(bytes: Buffer, mayMatch: MayMatch): StemmedText {
  const isToken = tokenCharacters();
  const stems = new Map<string, string>();
  const parts: Buffer[] = [];
  const changes: Change[] = [];
  const { length } = bytes;
  let copied = 0;
  let written = 0;
  for (let at = 0; at < length; ) {
    const character = characterAt(bytes, at);
    if (isToken[character >>> 3] !== 1) {
      at += character & 7;
      continue;
    }
    const start = at;
    const word = { letters: 0, isLatin: true, isCyrillic: true };
    for (let next = character; ; next = characterAt(bytes, at)) {
      const rune = next >>> 3;
      if (isToken[rune] !== 1) break;
      word.letters += 1;
      if (!isLatinLetter(rune)) word.isLatin = false;
      if (rune < 0x400 || rune > 0x45f) word.isCyrillic = false;
      at += next & 7;
      if (at >= length) break;
    }
    if (word.letters < shortestStemmed || word.letters > longestStemmed) continue;
    if (!word.isLatin && !word.isCyrillic) continue;
    const text = bytes.toString('utf8', start, at).toLowerCase().replaceAll('ё', 'е');
    if (!mayMatch(text)) continue;
    const stem = stems.get(text) ?? stemOnce(stems, text);
    const stemmed = Buffer.from(stem);
    parts.push(bytes.subarray(copied, start), stemmed);
    written += start - copied;
    changes.push({ from: written, to: written + stemmed.length, start, end: at });
    written += stemmed.length;
    copied = at;
  }
  parts.push(bytes.subarray(copied));
  return { bytes: Buffer.concat(parts), original: (offset, side) => originalOf(changes, offset, side) };
}

function isLatinLetter(rune: number): boolean {
  const lower = rune | 0x20;
  return lower >= 0x61 && lower <= 0x7a && rune < 0x80;
}

function stemOnce(stems: Map<string, string>, word: string): string {
  if (stems.size === maxStemmedWords) throw new TooManyWords();
  const stem = snowballStem(word);
  stems.set(word, stem);
  return stem;
}

/** The offset in the original text. `offset` is the border of a word, so that it is never inside of a changed word. */
function originalOf(changes: readonly Change[], offset: number, side: 'start' | 'end'): number {
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const from = changes[middle]?.from ?? 0;
    if (side === 'start' ? from <= offset : from < offset) low = middle + 1;
    else high = middle;
  }
  const change = changes[low - 1];
  if (change === undefined) return offset;
  return offset === change.from ? change.start : change.end + (offset - change.to);
}
