/**
 * The character that ends before offset `end` (at least 1) of valid UTF-8, as `code point * 8 + length in bytes`: one
 * number, because this is called for every character of every text.
 */
export function characterBefore(bytes: Uint8Array, end: number): number {
  const last = bytes[end - 1] ?? 0;
  if (last < 0x80) return last * 8 + 1;
  const second = bytes[end - 2] ?? 0;
  if (second >= 0xc0) return (((second & 0x1f) << 6) | (last & 0x3f)) * 8 + 2;
  const third = bytes[end - 3] ?? 0;
  const tail = ((second & 0x3f) << 6) | (last & 0x3f);
  if (third >= 0xe0) return (((third & 0x0f) << 12) | tail) * 8 + 3;
  return ((((bytes[end - 4] ?? 0) & 0x07) << 18) | ((third & 0x3f) << 12) | tail) * 8 + 4;
}

/** The character that begins at offset `start` of valid UTF-8, in the form of characterBefore. */
export function characterAt(bytes: Uint8Array, start: number): number {
  const first = bytes[start] ?? 0;
  if (first < 0x80) return first * 8 + 1;
  const second = (bytes[start + 1] ?? 0) & 0x3f;
  if (first < 0xe0) return (((first & 0x1f) << 6) | second) * 8 + 2;
  const tail = (second << 6) | ((bytes[start + 2] ?? 0) & 0x3f);
  if (first < 0xf0) return (((first & 0x0f) << 12) | tail) * 8 + 3;
  return (((first & 0x07) << 18) | (tail << 6) | ((bytes[start + 3] ?? 0) & 0x3f)) * 8 + 4;
}
