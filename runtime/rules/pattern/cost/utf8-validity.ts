/**
 * Advances through a text of valid UTF-8 by one byte. Places are numbers: 0 is between characters; 1 to 3 means that
 * this number of bytes is missing to the end of a character; 4 to 7 is after a lead byte that restricts the next byte
 * (E0, ED, F0, F4). Returns the next place, or -1 if the byte is not valid there.
 */
export function utf8Step(place: number, byte: number): number {
  if (place === 0) return lead(byte);
  const [low, high, after] = CONTINUATIONS[place] ?? [1, 0, -1];
  return byte >= low && byte <= high ? after : -1;
}

/** For each position inside of a character, the bytes that may follow and the position after them. */
const CONTINUATIONS: readonly (readonly [low: number, high: number, after: number])[] = [
  [1, 0, -1],
  [0x80, 0xbf, 0],
  [0x80, 0xbf, 1],
  [0x80, 0xbf, 2],
  [0xa0, 0xbf, 1],
  [0x80, 0x9f, 1],
  [0x90, 0xbf, 2],
  [0x80, 0x8f, 2],
];

function lead(byte: number): number {
  if (byte < 0x80) return 0;
  if (byte < 0xc2 || byte > 0xf4) return -1;
  if (byte < 0xe0) return 1;
  switch (byte) {
    case 0xe0:
      return 4;
    case 0xed:
      return 5;
    case 0xf0:
      return 6;
    case 0xf4:
      return 7;
    default:
      return byte < 0xf0 ? 2 : 3;
  }
}
