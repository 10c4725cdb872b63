import type { PatternNode } from './pattern-tree.ts';
import { MAX_RUNE, type RuneSet, runeSet } from './unicode/rune-set.ts';

/** A set of bytes, written as a RuneSet of numbers up to 255. */
type ByteSet = RuneSet;

/**
 * How often a byte of usual text is this one, roughly: of several bytes that a match needs the rarest tell most texts
 * apart. Only speed depends on it.
 */
const FREQUENCY = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (byte >= 0x80 || /[a-ik-pr-wy \n]/.test(character)) return 100;
  return /[0-9A-IL-PR-UWY.,:'"()/_-]/.test(character) ? 10 : 1;
});

/** By the bytes of UTF-8 that a character can have: the least and the most, and how the first byte follows from it. */
const LENGTHS = [
  { low: 0, high: 0x7f, lead: 0, shift: 0 },
  { low: 0x80, high: 0x7ff, lead: 0xc0, shift: 6 },
  { low: 0x800, high: 0xffff, lead: 0xe0, shift: 12 },
  { low: 0x10000, high: MAX_RUNE, lead: 0xf0, shift: 18 },
] as const;

/** Looking for more bytes than this one after another is not sure to be worth it. */
const MOST = 32;

/**
 * Characters of a byte string (see CheckedText) of which every match of any of the patterns has one: a text without any
 * of them has no match. Undefined when nothing like this is known. The most frequent come first.
 */
export function necessaryBytes(nodes: readonly PatternNode[]): readonly string[] | undefined {
  const sets = nodes.map(rarestOf);
  if (!sets.every((set) => set !== undefined)) return undefined;
  const bytes = bytesOf(runeSet(sets.flat()));
  if (bytes.length > MOST) return undefined;
  const byFrequency = bytes.toSorted((left, right) => (FREQUENCY[right] ?? 0) - (FREQUENCY[left] ?? 0));
  return byFrequency.map((byte) => String.fromCharCode(byte));
}

export function hasOneOf(byteString: string, characters: readonly string[]): boolean {
  for (const character of characters) if (byteString.includes(character)) return true;
  return false;
}

/** The rarest set of bytes of which every match has one; undefined when a match may do without any certain byte. */
function rarestOf(node: PatternNode): ByteSet | undefined {
  switch (node.kind) {
    case 'empty':
    case 'any-byte':
    case 'assertion':
      return undefined;
    case 'runes':
      return firstBytes(node.set);
    case 'repeat':
      return node.min === 0 ? undefined : rarestOf(node.item);
    case 'concat': {
      const sets = node.items.map(rarestOf).filter((set) => set !== undefined);
      return sets.toSorted((left, right) => frequencyOf(left) - frequencyOf(right))[0];
    }
    case 'either': {
      const sets = node.items.map(rarestOf);
      return sets.every((set) => set !== undefined) ? runeSet(sets.flat()) : undefined;
    }
  }
}

function firstBytes(set: RuneSet): ByteSet {
  const pairs: number[] = [];
  for (let at = 0; at < set.length; at += 2) {
    for (const { low, high, lead, shift } of LENGTHS) {
      const from = Math.max(low, set[at] ?? 0);
      const to = Math.min(high, set[at + 1] ?? 0);
      if (from <= to) pairs.push(lead | (from >> shift), lead | (to >> shift));
    }
  }
  return runeSet(pairs);
}

function frequencyOf(set: ByteSet): number {
  return bytesOf(set).reduce((sum, byte) => sum + (FREQUENCY[byte] ?? 0), 0);
}

function bytesOf(set: ByteSet): readonly number[] {
  const bytes: number[] = [];
  for (let at = 0; at < set.length; at += 2) {
    for (let byte = set[at] ?? 0; byte <= (set[at + 1] ?? 0); byte += 1) bytes.push(byte);
  }
  return bytes;
}
