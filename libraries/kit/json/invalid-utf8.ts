/** First byte of a sequence, how many continuation bytes follow, and the range of the first of them (RFC 3629 §4). */
const SEQUENCES = [
  { first: 0xc2, last: 0xdf, tail: 1, low: 0x80, high: 0xbf },
  { first: 0xe0, last: 0xe0, tail: 2, low: 0xa0, high: 0xbf },
  { first: 0xe1, last: 0xec, tail: 2, low: 0x80, high: 0xbf },
  { first: 0xed, last: 0xed, tail: 2, low: 0x80, high: 0x9f },
  { first: 0xee, last: 0xef, tail: 2, low: 0x80, high: 0xbf },
  { first: 0xf0, last: 0xf0, tail: 3, low: 0x90, high: 0xbf },
  { first: 0xf1, last: 0xf3, tail: 3, low: 0x80, high: 0xbf },
  { first: 0xf4, last: 0xf4, tail: 3, low: 0x80, high: 0x8f },
] as const;

/** Offset of the first invalid UTF-8 sequence; the length if all bytes are valid. */
export function invalidUtf8Offset(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return at;
}

function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const sequence = SEQUENCES.find((one) => first >= one.first && first <= one.last);
  if (sequence === undefined) return 0;
  for (let index = 1; index <= sequence.tail; index++) {
    const next = bytes[at + index] ?? 0;
    const low = index === 1 ? sequence.low : 0x80;
    const high = index === 1 ? sequence.high : 0xbf;
    if (next < low || next > high) return 0;
  }
  return sequence.tail + 1;
}
