const tokenCharacter = /^[\p{L}\p{N}\p{M}_]/u;

/** The first byte of a character of valid UTF-8 at or before `position`. */
export function characterStart(bytes: Uint8Array, position: number): number {
  let at = Math.min(position, bytes.length);
  while (at > 0 && at < bytes.length && isContinuation(bytes[at])) at -= 1;
  return at;
}

/** The first byte of a character of valid UTF-8 at or after `position`. */
export function nextCharacterStart(bytes: Uint8Array, position: number): number {
  let at = Math.max(position, 0);
  while (at < bytes.length && isContinuation(bytes[at])) at += 1;
  return at;
}

/**
 * The last position of a character in `lowest`..`highest` that does not cut a word: letters, digits, underscores and
 * combining marks continue one (DESIGN section 5). Both neighbours of `highest` must be there.
 * @returns undefined when every position in the range cuts a word
 */
export function lastTokenBoundary(bytes: Buffer, lowest: number, highest: number): number | undefined {
  let position = highest;
  let after = isTokenAt(bytes, position);
  while (position >= lowest && position > 0) {
    const previous = characterStart(bytes, position - 1);
    const before = isTokenAt(bytes, previous);
    if (!(before && after)) return position;
    position = previous;
    after = before;
  }
  return undefined;
}

function isTokenAt(bytes: Buffer, position: number): boolean {
  const first = bytes[position];
  if (first === undefined) return false;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return tokenCharacter.test(bytes.toString('utf8', position, position + length));
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
