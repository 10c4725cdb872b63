/** Writes one line of JSON to standard output; the parent process reads it as the sign that this process serves. */
export function writeReadyLine(fields: { readonly listening: string } & Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(fields)}\n`);
}
