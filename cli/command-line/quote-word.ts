/** A word as a POSIX shell reads it back: in single quotes unless it is plain. */
export function quoteWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
