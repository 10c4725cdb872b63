import { limits } from '#contracts/limits';

/** A longer text is only in part in a seam. */
const shortCharacters = 512;
/** Short texts are added to a seam only up to this length. */
const seamCharacters = 2_048;
/** Maximum number of characters by which an end is longer, so that it does not begin or end inside of a word. */
const wordCharacters = 64;

const word = `[\\p{L}\\p{N}\\p{M}_]{0,${wordCharacters}}`;
const some = `[\\s\\S]{0,${limits.overlapBytes}}`;
const tail = new RegExp(`${word}${some}$`, 'u');
const head = new RegExp(`^${some}${word}`, 'u');
/** Maximum length of the end or the beginning of a text, in UTF-16 units. */
const mostUnits = 2 * (limits.overlapBytes + wordCharacters);

/** The last characters of a text, at least as many as a phrase that the windows of a stream find whole. */
export function tailOf(text: string): string {
  const end = text.slice(-mostUnits).replace(/^[\uDC00-\uDFFF]/, '');
  return tail.exec(end)?.[0] ?? end;
}

/** The first characters of a text, as many as `tailOf` has. */
export function beginOf(text: string): string {
  const begin = text.slice(0, mostUnits).replace(/[\uD800-\uDBFF]$/, '');
  return head.exec(begin)?.[0] ?? begin;
}

/**
 * The texts around each place where texts are joined without a space, so that a phrase across such a place is found.
 * Short texts share one seam, because a phrase can be split over many of them. Empty for fewer than two texts.
 */
export function joinSeams(texts: readonly string[]): readonly string[] {
  const seams: string[] = [];
  let before = '';
  let hasSeam = false;
  for (const text of texts.filter((one) => one !== '')) {
    const isShort = text.length <= shortCharacters;
    const joined = before + (isShort ? text : beginOf(text));
    hasSeam = before !== '';
    if (hasSeam && (!isShort || joined.length > seamCharacters)) {
      seams.push(joined);
      before = tailOf(before + text);
      hasSeam = false;
    } else before = isShort ? joined : tailOf(text);
  }
  return hasSeam ? [...seams, before] : seams;
}
