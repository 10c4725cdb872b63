/** A word in a form that a POSIX shell reads as this word: in single quotes unless it is plain. */
export function quoteWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
