/**
 * The beginning of a text, at most `most` UTF-16 units: the text is truncated after a word if a word ends in its second
 * half, and never inside of a surrogate pair.
 */
export function shortenLine(text: string, most: number): string {
  if (text.length <= most) return text;
  const isPairCut = most > 0 && isHighSurrogate(text.charCodeAt(most - 1));
  const begin = text.slice(0, isPairCut ? most - 1 : most);
  if (/\s/.test(text.charAt(begin.length))) return begin.trimEnd();
  const word = /\s\S*$/.exec(begin.slice(Math.ceil(most / 2)));
  return word === null ? begin : begin.slice(0, Math.ceil(most / 2) + word.index).trimEnd();
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
