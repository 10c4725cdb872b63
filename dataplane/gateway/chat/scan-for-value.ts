const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const objectOpen = 0x7b;
const objectClose = 0x7d;
const arrayOpen = 0x5b;
const arrayClose = 0x5d;
const zero = 0x30;
const nine = 0x39;
const space = new Set([0x20, 0x09, 0x0a, 0x0d]);

type Range = { readonly start: number; readonly end: number };

/**
 * Finds the position of a string or an object in a JSON text, including its quotes or braces. Only the bytes up to the
 * end of the value are read and no tree is built, because this is done for each frame of a stream. For a JSON text with
 * errors, the result is undefined or the position of any string or object.
 * @param path the keys that lead to the value, from the root, as JSON strings
 */
export function scanForValue(bytes: Buffer, path: readonly Buffer[]): Range | undefined {
  let at = skipSpace(bytes, 0);
  for (const key of path) {
    const value = findMember(bytes, at, key);
    if (value === undefined) return undefined;
    at = value;
  }
  const end = bytes[at] === quote ? endOfString(bytes, at) : endOfObject(bytes, at);
  return end === undefined ? undefined : { start: at, end };
}

/** The position of the value of a member of the object at `start`. */
function findMember(bytes: Buffer, start: number, key: Buffer): number | undefined {
  let found: number | undefined;
  walkObject(bytes, start, (keyStart, keyEnd, value) => {
    const isFound = keyEnd - keyStart === key.length && bytes.compare(key, 0, key.length, keyStart, keyEnd) === 0;
    if (isFound) found = value;
    return isFound;
  });
  return found;
}

function endOfObject(bytes: Buffer, start: number): number | undefined {
  return walkObject(bytes, start, () => false);
}

/**
 * Visits the members of the object at `start` until `visit` returns true.
 * @returns the position after the object; undefined if it was not reached
 */
function walkObject(
  bytes: Buffer,
  start: number,
  visit: (keyStart: number, keyEnd: number, value: number) => boolean,
): number | undefined {
  if (bytes[start] !== objectOpen) return undefined;
  let depth = 1;
  let isKey = true;
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    // Most bytes of an answer with embeddings are digits, and such an answer can have 20 MiB.
    if (byte >= zero && byte <= nine) continue;
    if (byte === quote) {
      const end = endOfString(bytes, at);
      if (end === undefined) return undefined;
      if (depth === 1 && isKey) {
        isKey = false;
        const separator = skipSpace(bytes, end);
        if (bytes[separator] !== colon || visit(at, end, skipSpace(bytes, separator + 1))) return undefined;
      }
      at = end - 1;
    } else if (byte === objectOpen || byte === arrayOpen) depth += 1;
    else if (byte === objectClose || byte === arrayClose) {
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (byte === comma && depth === 1) isKey = true;
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
