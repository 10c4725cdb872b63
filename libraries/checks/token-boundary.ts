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
 * Chooses the end of a window between `lowest` and `highest`, on a character boundary. A rule can take a part of a
 * split word for a token. The first choice is the last position that splits no word and for which the next window,
 * `overlap` bytes earlier, also begins without splitting a word; the second choice is the last position that splits no
 * word; otherwise `highest` is chosen. Letters, digits, underscores and combining marks continue a word
 * (docs/design/streaming.md, "Where a window ends").
 */
export function chooseWindowEnd(bytes: Buffer, lowest: number, highest: number, overlap: number): number {
  let fallback: number | undefined;
  for (let end = highest; end >= lowest; end = characterStart(bytes, end - 1)) {
    if (cutsWord(bytes, end)) continue;
    if (!cutsWord(bytes, nextCharacterStart(bytes, end - overlap))) return end;
    fallback ??= end;
  }
  return fallback ?? highest;
}

/**
 * The last position between `lowest` and `position`, on a character boundary, that splits no word; `position` if there
 * is no such position.
 */
export function wordStart(bytes: Buffer, lowest: number, position: number): number {
  for (let at = position; at >= lowest; at = characterStart(bytes, at - 1)) {
    if (!cutsWord(bytes, at)) return at;
  }
  return position;
}

function cutsWord(bytes: Buffer, position: number): boolean {
  if (position <= 0) return false;
  return isTokenAt(bytes, position) && isTokenAt(bytes, characterStart(bytes, position - 1));
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
