/** 64 bits that represent a term, as two unsigned numbers of 32 bits. */
export type TermHash = { readonly high: number; readonly low: number };

/**
 * The hash that stands for a term in packed entries and in the embedded index: MurmurHash3 over its UTF-16 units, with
 * one seed for each half. The probability that two of a million terms have the same hash is about 3 in 10^8. The
 * function is part of the stored format.
 */
export function hashTerm(term: string): TermHash {
  return { high: hashUnits(term, 0x9747b28c), low: hashUnits(term, 0x3c6ef372) };
}

function hashUnits(text: string, seed: number): number {
  let hash = seed | 0;
  for (let at = 0; at < text.length; at += 1) {
    let unit = Math.imul(text.charCodeAt(at), 0xcc9e2d51);
    unit = Math.imul((unit << 15) | (unit >>> 17), 0x1b873593);
    hash ^= unit;
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  hash ^= text.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
