import { isUtf8 } from 'node:buffer';
import { DEFAULT_MAX_DEPTH, type JsonOptions, type JsonValue } from './json-value.ts';
import { nodeValue, parseTree } from './parse-tree.ts';

export { JsonError, type JsonValue } from './json-value.ts';
export { type CountedTree, type JsonNode, member, nodeValue, parseCountedTree, parseTree } from './parse-tree.ts';

/** The end of a longer string is found with indexOf instead of a loop over its bytes. */
const LONG_STRING = 48;

type Outline = {
  /** Number of strings in the text, keys included. */
  readonly strings: number;
  readonly depth: number;
  /** Upper limit of the number of values: an empty object or array counts as two. */
  readonly mostValues: number;
};

/**
 * Reads one JSON text (RFC 8259) strictly. Refused: invalid UTF-8, a byte order mark, a duplicate key, an unpaired
 * surrogate (unless kept), a number beyond a double, nesting beyond `maxDepth` (64). Reasons are in
 * docs/decisions/0018-strict-json-reader.md.
 *
 * JSON.parse reads the text. The number of strings in the text is then compared with the number in the value, which
 * lacks the strings of a duplicate key. If any check fails, `parseTree` reads the text again and throws the exact
 * fault.
 * @throws JsonError
 */
export function parseStrict(bytes: Uint8Array, options: JsonOptions = {}): JsonValue {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const value = parseFast(buffer, options);
  return value === undefined ? nodeValue(parseTree(buffer, options)) : value;
}

function parseFast(bytes: Buffer, options: JsonOptions): JsonValue | undefined {
  if (!isUtf8(bytes)) return undefined;
  const maxDepth = options.maxDepth ?? DEFAULT_MAX_DEPTH;
  const outline = outlineOf(bytes, maxDepth);
  if (outline.depth > maxDepth || outline.mostValues > (options.maxValues ?? Number.POSITIVE_INFINITY))
    return undefined;
  let value: JsonValue;
  try {
    value = JSON.parse(bytes.toString('utf8')) as JsonValue;
  } catch {
    return undefined;
  }
  const checkStrings = options.unpairedSurrogates !== 'keep' && bytes.includes(0x5c);
  return countStrings(value, checkStrings) === outline.strings ? value : undefined;
}

/**
 * An upper limit of the number of values in a JSON text, computed without parsing: an empty object or array counts as
 * two.
 */
export function mostValuesOf(bytes: Uint8Array): number {
  return outlineOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), Number.POSITIVE_INFINITY).mostValues;
}

/** Counts strings and depth without validation; exact for a text that is valid JSON. */
function outlineOf(bytes: Buffer, maxDepth: number): Outline {
  const { length } = bytes;
  let strings = 0;
  let depth = 0;
  let deepest = 0;
  // Each value except the whole text either follows a comma or is the first value of its object or array.
  let mostValues = 1;
  for (let at = 0; at < length && deepest <= maxDepth; at++) {
    const byte = bytes[at];
    if (byte === 0x22) {
      strings++;
      at = closingQuote(bytes, at + 1);
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++;
      mostValues++;
      if (depth > deepest) deepest = depth;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--;
    } else if (byte === 0x2c) {
      mostValues++;
    }
  }
  return { strings, depth: deepest, mostValues };
}

/** Offset of the closing quote of the string that begins at `start`; the length of the bytes if the string does not end. */
function closingQuote(bytes: Buffer, start: number): number {
  const near = Math.min(bytes.length, start + LONG_STRING);
  let at = start;
  while (at < near && bytes[at] !== 0x22 && bytes[at] !== 0x5c) at++;
  if (at === near) at = skipPlain(bytes, at);
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x22) return at;
    if (byte === 0x5c) at++;
  }
  return bytes.length;
}

/** Offset of the first quote or backslash at or after `from`; the length of the bytes if the string does not end. */
function skipPlain(bytes: Buffer, from: number): number {
  const quote = bytes.indexOf(0x22, from);
  const end = quote < 0 ? bytes.length : quote;
  const backslash = bytes.subarray(from, end).indexOf(0x5c);
  return backslash < 0 ? end : from + backslash;
}

/** Number of strings in a value, keys included; NaN if it contains a string or number that must be refused. */
function countStrings(value: JsonValue, checkStrings: boolean): number {
  if (typeof value === 'string') return checkStrings && !value.isWellFormed() ? Number.NaN : 1;
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : Number.NaN;
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countStrings(item, checkStrings);
    return count;
  }
  for (const key of Object.keys(value)) {
    if (checkStrings && !key.isWellFormed()) return Number.NaN;
    count += 1 + countStrings(value[key] as JsonValue, checkStrings);
  }
  return count;
}
