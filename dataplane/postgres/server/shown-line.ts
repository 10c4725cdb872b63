/**
 * What of a line of the server may be shown. Until it serves, its lines are about itself. Then those of connections that
 * fail name a role, a database or an option as the client wrote it: what comes after the first quote or colon is left
 * out, and so are further lines of such a message.
 */
export function shownLine(line: string, isServing: boolean): string | undefined {
  if (!isServing) return line;
  if (line.startsWith('\t')) return undefined;
  const [, sentence] = /^FATAL: +([^":]*)/.exec(line) ?? [];
  return sentence === undefined ? line : `FATAL:  ${sentence.trimEnd()}`;
}
