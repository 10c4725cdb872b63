import type { ByteRange, CheckedText } from '../../checked-text.ts';
import { MAX_RUNE, type RuneSet, runeSet } from '../../unicode/rune-set.ts';
import { shapeOf } from '../syntax/pattern-shape.ts';
import type { PatternNode } from '../syntax/pattern-tree.ts';

/**
 * Bytes of which every match of some patterns contains at least one, and how far a match extends on both sides of it.
 */
export type NecessaryBytes = {
  /** The necessary bytes as characters of a byte string (see CheckedText), the most frequent first. */
  readonly characters: readonly string[];
  /** Maximum number of bytes that a match has before and after a necessary byte; may be Infinity. */
  readonly before: number;
  readonly after: number;
  /** For each byte, 1 if a match may contain it: a match cannot extend beyond any other byte. */
  readonly alphabet: Uint8Array;
};

/** A set of bytes, written as a RuneSet of numbers up to 255. */
type ByteSet = RuneSet;
type Necessary = { readonly set: ByteSet; readonly before: number; readonly after: number };

/**
 * Maximum number of necessary bytes that are searched one after another: searching more might cost more time than it
 * saves.
 */
const MOST = 32;
/** Maximum number of necessary bytes that are searched from both ends of a text. */
const MOST_FOR_WINDOW = 4;
/** The distance from a necessary byte within which a byte that no match contains is searched. */
const MOST_STEPS = 256;

/**
 * The approximate frequency of each byte in usual text: if a match needs one of several bytes, the rarest distinguishes
 * most texts. Only speed depends on these values.
 */
const FREQUENCY = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (byte >= 0x80 || /[a-ik-pr-wy \n]/.test(character)) return 100;
  return /[0-9A-IL-PR-UWY.,:'"()/_-]/.test(character) ? 10 : 1;
});

/**
 * For each number of UTF-8 bytes of a character: its smallest and largest code point, and how the first byte is
 * computed.
 */
const LENGTHS = [
  { low: 0, high: 0x7f, lead: 0, shift: 0 },
  { low: 0x80, high: 0x7ff, lead: 0xc0, shift: 6 },
  { low: 0x800, high: 0xffff, lead: 0xe0, shift: 12 },
  { low: 0x10000, high: MAX_RUNE, lead: 0xf0, shift: 18 },
] as const;

/** Bytes of which every match of any of the patterns contains at least one; undefined if no such set is known. */
export function necessaryBytes(nodes: readonly PatternNode[]): NecessaryBytes | undefined {
  const joint = joined(nodes.map(rarestOf));
  if (joint === undefined) return undefined;
  const { set, before, after } = joint;
  const bytes = bytesOf(set);
  if (bytes.length > MOST) return undefined;
  const byFrequency = bytes.toSorted((left, right) => (FREQUENCY[right] ?? 0) - (FREQUENCY[left] ?? 0));
  const alphabet = new Uint8Array(256);
  for (const node of nodes) addBytes(alphabet, node);
  return { characters: byFrequency.map((byte) => String.fromCharCode(byte)), before, after, alphabet };
}

/**
 * The part of a text in which all matches are, with at least one more byte on each side that is not the end of the
 * text, so that assertions have the same result in this part as in the text; undefined if there can be no match.
 */
export function windowOf({ bytes, byteString }: CheckedText, needed: NecessaryBytes): ByteRange | undefined {
  const { characters } = needed;
  if (characters.length > MOST_FOR_WINDOW) {
    const any = characters.some((character) => byteString.includes(character));
    return any ? { start: 0, end: bytes.length } : undefined;
  }
  let first = bytes.length;
  let last = -1;
  for (const character of characters) {
    const at = byteString.indexOf(character);
    if (at < 0) continue;
    first = Math.min(first, at);
    last = Math.max(last, bytes.lastIndexOf(character.charCodeAt(0)));
  }
  if (last < 0) return undefined;
  let start = Math.max(0, startBefore(bytes, first, needed) - 1);
  let end = Math.min(bytes.length, endAfter(bytes, last + 1, needed) + 1);
  while (start > 0 && isInside(bytes[start])) start -= 1;
  while (end < bytes.length && isInside(bytes[end])) end += 1;
  return { start, end };
}

/** The earliest start of a match that includes the byte at `at`; may be negative. */
function startBefore(bytes: Buffer, at: number, { before, alphabet }: NecessaryBytes): number {
  const least = Math.max(0, at - Math.min(before, MOST_STEPS));
  for (let start = at; start > least; start -= 1) if (alphabet[bytes[start - 1] ?? 0] === 0) return start;
  return at - before;
}

/** The latest end of a match that includes the byte before `at`; may be past the text's end. */
function endAfter(bytes: Buffer, at: number, { after, alphabet }: NecessaryBytes): number {
  const most = Math.min(bytes.length, at + Math.min(after, MOST_STEPS));
  for (let end = at; end < most; end += 1) if (alphabet[bytes[end] ?? 0] === 0) return end;
  return at + after;
}

/** Collects the bytes of every text that the node may match; for wide characters it may collect more. */
function addBytes(alphabet: Uint8Array, node: PatternNode): void {
  switch (node.kind) {
    case 'empty':
    case 'assertion':
      return;
    case 'any-byte':
      alphabet.fill(1);
      return;
    case 'runes': {
      const first = firstBytes(node.set);
      for (const byte of bytesOf(first)) alphabet[byte] = 1;
      if ((first.at(-1) ?? 0) >= 0x80) alphabet.fill(1, 0x80, 0xc0);
      return;
    }
    case 'repeat':
      addBytes(alphabet, node.item);
      return;
    case 'concat':
    case 'either':
      for (const item of node.items) addBytes(alphabet, item);
  }
}

/** Whether a byte of UTF-8 is a continuation byte. */
function isInside(byte: number | undefined): boolean {
  return ((byte ?? 0) & 0xc0) === 0x80;
}

/** The rarest bytes of which every match contains at least one; undefined if no byte is certain. */
function rarestOf(node: PatternNode): Necessary | undefined {
  switch (node.kind) {
    case 'empty':
    case 'any-byte':
    case 'assertion':
      return undefined;
    case 'runes':
      return { set: firstBytes(node.set), before: 0, after: shapeOf(node).maxBytes - 1 };
    case 'repeat': {
      const item = node.min === 0 ? undefined : rarestOf(node.item);
      const others = shapeOf({ ...node, min: 0, max: node.max - 1 }).maxBytes;
      return item && { ...item, after: item.after + others };
    }
    case 'concat':
      return rarestPart(node.items);
    case 'either':
      return joined(node.items.map(rarestOf));
  }
}

function rarestPart(items: readonly PatternNode[]): Necessary | undefined {
  const lengths = items.map((item) => shapeOf(item).maxBytes);
  const ends = lengths.toReversed();
  const parts = items.flatMap((item, at) => {
    const own = rarestOf(item);
    if (own === undefined) return [];
    const before = own.before + sumOf(lengths.slice(0, at));
    return [{ set: own.set, before, after: own.after + sumOf(ends.slice(0, items.length - 1 - at)) }];
  });
  return parts.toSorted((left, right) => frequencyOf(left.set) - frequencyOf(right.set))[0];
}

function sumOf(lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** The necessary bytes of a list of alternatives. */
function joined(some: readonly (Necessary | undefined)[]): Necessary | undefined {
  const all = some.filter((one) => one !== undefined);
  if (all.length < some.length) return undefined;
  return {
    set: runeSet(all.flatMap(({ set }) => set)),
    before: Math.max(0, ...all.map(({ before }) => before)),
    after: Math.max(0, ...all.map(({ after }) => after)),
  };
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
