/** Writes one line of JSON to standard output, for the parent process that waits until this one serves. */
export function writeReadyLine(fields: { readonly listening: string } & Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(fields)}\n`);
}
