/**
 * The part of a server log line that may be logged. Before the server accepts connections, its lines contain no client
 * data. Afterwards, lines about failed connections quote a role, database or option of the client: the text after the
 * first quote or colon is dropped, and so are continuation lines.
 */
export function shownLine(line: string, isServing: boolean): string | undefined {
  if (!isServing) return line;
  if (line.startsWith('\t')) return undefined;
  const [, sentence] = /^FATAL: +([^":]*)/.exec(line) ?? [];
  return sentence === undefined ? line : `FATAL:  ${sentence.trimEnd()}`;
}
