import { scanForValue } from './scan-for-value.ts';

/** Writes the model name of the client's request into an answer of the provider, or into one frame of a stream. */
export type RenameAnswer = (bytes: Buffer) => Buffer;

const quote = 0x22;

/**
 * The answer names the alias of the binding as its model, as a client expects the name that it sent
 * (docs/decisions/0053-the-alias-is-the-model-of-an-answer.md). All other bytes stay.
 * @param path the members to the name of the model, from the root
 * @returns a function that returns the same bytes if no string is at this path
 */
export function renamerTo(alias: string, path: readonly string[] = ['model']): RenameAnswer {
  const pieces = renamedPieces(alias, path);
  return (bytes) => {
    const renamed = pieces(bytes);
    return renamed.length === 1 ? bytes : Buffer.concat(renamed);
  };
}

/**
 * The renamed answer in pieces (the bytes before the name, the name, the bytes after it), so that a large answer is not
 * copied.
 */
export function renamedPieces(
  alias: string,
  path: readonly string[] = ['model'],
): (bytes: Buffer) => readonly Buffer[] {
  const replacement = Buffer.from(JSON.stringify(alias), 'utf8');
  const keys = path.map((key) => Buffer.from(JSON.stringify(key), 'utf8'));
  return (bytes) => {
    const found = scanForValue(bytes, keys);
    if (found === undefined || bytes[found.start] !== quote) return [bytes];
    return [bytes.subarray(0, found.start), replacement, bytes.subarray(found.end)];
  };
}
