/** Longest run of white space in a stored text: less than half of the smallest chunk, so that no chunk is blank. */
const longestSpace = 16;

/**
 * The form in which a text is judged, stored and indexed: well-formed UTF-16 without NUL, which PostgreSQL cannot store,
 * lines that end with a line feed, no long run of white space, no white space at its ends.
 */
export function storableText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\0', '\uFFFD')
    .replace(/\r\n?/g, '\n')
    .replace(/[^\S\n]+/g, (space, at: number, whole: string) => (isLineEnd(whole, at + space.length) ? '' : space))
    .replace(/\n{3,}/g, '\n\n')
    .replace(/\s+/g, (space) => (space.length <= longestSpace ? space : space.includes('\n') ? '\n\n' : ' '))
    .trim();
}

/**
 * Called once for each run of white space: an expression with an anchor would read a run again from each of its
 * characters.
 */
function isLineEnd(text: string, at: number): boolean {
  return at === text.length || text.charAt(at) === '\n';
}
