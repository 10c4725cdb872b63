import type { RuneSet } from '../../unicode/rune-set.ts';

/** The bytes of a block of characters: one `[low, high]` pair for each byte, flattened. */
export type ByteSequence = readonly number[];

const LAST_OF_LENGTH = [0x7f, 0x7ff, 0xffff, 0x10ffff] as const;

/** The UTF-8 forms of a set of code points as sequences of byte ranges, in the order of the code points. */
export function utf8Sequences(set: RuneSet): ByteSequence[] {
  const out: ByteSequence[] = [];
  for (let at = 0; at < set.length; at += 2) split(set[at] ?? 0, set[at + 1] ?? 0, out);
  return out;
}

function split(low: number, high: number, out: ByteSequence[]): void {
  for (const last of LAST_OF_LENGTH) {
    if (low <= last && last < high) {
      split(low, last, out);
      split(last + 1, high, out);
      return;
    }
  }
  const from = encode(low);
  const to = encode(high);
  for (let tail = 1; tail < from.length; tail += 1) {
    const block = 1 << (6 * tail);
    if (Math.floor(low / block) === Math.floor(high / block)) continue;
    if (low % block !== 0) {
      const edge = (Math.floor(low / block) + 1) * block;
      split(low, edge - 1, out);
      split(edge, high, out);
      return;
    }
    if ((high + 1) % block !== 0) {
      const edge = Math.floor(high / block) * block;
      split(low, edge - 1, out);
      split(edge, high, out);
      return;
    }
  }
  out.push(from.flatMap((byte, index) => [byte, to[index] ?? byte]));
}

/** UTF-8 of any code point, including surrogates, which RE2 encodes like other code points. */
function encode(rune: number): number[] {
  if (rune < 0x80) return [rune];
  if (rune < 0x800) return [0xc0 | (rune >> 6), 0x80 | (rune & 0x3f)];
  if (rune < 0x10000) return [0xe0 | (rune >> 12), 0x80 | ((rune >> 6) & 0x3f), 0x80 | (rune & 0x3f)];
  return [0xf0 | (rune >> 18), 0x80 | ((rune >> 12) & 0x3f), 0x80 | ((rune >> 6) & 0x3f), 0x80 | (rune & 0x3f)];
}
