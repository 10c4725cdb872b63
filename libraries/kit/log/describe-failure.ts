/**
 * One line about an unexpected failure that is safe to log. The message is included only for errors with a code of
 * Portcullis or of the operating system; other messages may quote user data.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return `a ${typeof error} was thrown`;
  const code = codeOf(error);
  if (code !== undefined && !code.startsWith('ERR_')) return `${error.message.replace(/\s+/g, ' ')} (${code})`;
  const frame = error.stack?.split('\n').find((line) => line.startsWith('    at '));
  return [code === undefined ? error.name : `${error.name} ${code}`, frame?.trim()].filter(Boolean).join(' ');
}

/** The `code` of an error if it is a string. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
