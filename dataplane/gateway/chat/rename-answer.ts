const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const open = new Set([0x7b, 0x5b]);
const close = new Set([0x7d, 0x5d]);
const space = new Set([0x20, 0x09, 0x0a, 0x0d]);
const objectOpen = 0x7b;

/** Puts the name that the client asked for into an answer of the provider, or into one frame of it. */
export type RenameAnswer = (bytes: Buffer) => Buffer;

/**
 * The answer names the alias of the binding as its model, as a client expects the name that it sent
 * (docs/decisions/0053-the-alias-is-the-model-of-an-answer.md). All other bytes stay.
 * @param path the members that lead to the name of the model, from the root
 * @returns a function that gives back the same bytes where no string is at this path
 */
export function renamerTo(alias: string, path: readonly string[] = ['model']): RenameAnswer {
  const replacement = Buffer.from(JSON.stringify(alias), 'utf8');
  const keys = path.map((key) => Buffer.from(JSON.stringify(key), 'utf8'));
  return (bytes) => {
    const found = findString(bytes, keys);
    if (found === undefined) return bytes;
    return Buffer.concat([bytes.subarray(0, found.start), replacement, bytes.subarray(found.end)]);
  };
}

/**
 * The position of a string of a JSON text, quotes included. It reads no further than to this string, because this is done
 * for each frame of a stream. The text may have any fault: then the result is undefined or the position of a string.
 */
function findString(
  bytes: Buffer,
  path: readonly Buffer[],
): { readonly start: number; readonly end: number } | undefined {
  let at = skipSpace(bytes, 0);
  for (const key of path) {
    const value = findMember(bytes, at, key);
    if (value === undefined) return undefined;
    at = value;
  }
  if (bytes[at] !== quote) return undefined;
  const end = endOfString(bytes, at);
  return end === undefined ? undefined : { start: at, end };
}

/** The position of the value of a member of the object at `start`. */
function findMember(bytes: Buffer, start: number, key: Buffer): number | undefined {
  if (bytes[start] !== objectOpen) return undefined;
  let depth = 1;
  let isKey = true;
  for (let at = start + 1; at < bytes.length && depth > 0; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) {
      const end = endOfString(bytes, at);
      if (end === undefined) return undefined;
      if (depth === 1 && isKey) {
        isKey = false;
        const separator = skipSpace(bytes, end);
        if (bytes[separator] !== colon) return undefined;
        if (end - at === key.length && bytes.compare(key, 0, key.length, at, end) === 0) {
          return skipSpace(bytes, separator + 1);
        }
      }
      at = end - 1;
    } else if (open.has(byte)) depth += 1;
    else if (close.has(byte)) depth -= 1;
    else if (byte === comma && depth === 1) isKey = true;
  }
  return undefined;
}

/** The position after the closing quote. */
function endOfString(bytes: Buffer, start: number): number | undefined {
  for (let end = bytes.indexOf(quote, start + 1); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return undefined;
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (space.has(bytes[at] ?? 0)) at += 1;
  return at;
}
